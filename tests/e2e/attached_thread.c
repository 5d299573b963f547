// SPDX-License-Identifier: Apache-2.0
/*
 * The library of ../java/Attached.java: a thread of C that attaches itself to the JVM under a name.
 * The JVM does not tell the kernel of that name. Compiled by the test that uses it, for it needs
 * the headers of a JDK.
 */
#include <jni.h>

#include <pthread.h>
#include <stdlib.h>

struct start {
	JavaVM *vm;
	jclass program;
	char *name; /* in Java's form of UTF-8 */
};

static void *run(void *arg)
{
	const struct start *const start = arg;
	JavaVMAttachArgs as = {.version = JNI_VERSION_1_6, .name = start->name};
	JNIEnv *env;
	jmethodID turns;

	if ((*start->vm)->AttachCurrentThread(start->vm, (void **)&env, &as) != JNI_OK)
		abort();
	turns = (*env)->GetStaticMethodID(env, start->program, "turns", "()V");
	if (turns)
		(*env)->CallStaticVoidMethod(env, start->program, turns);
	return NULL;
}

static char *copy_of(JNIEnv *env, jstring text)
{
	const jsize bytes = (*env)->GetStringUTFLength(env, text);
	char *const copy = calloc(1, (size_t)bytes + 1);

	if (copy)
		(*env)->GetStringUTFRegion(env, text, 0, (*env)->GetStringLength(env, text), copy);
	return copy;
}

JNIEXPORT void JNICALL Java_Attached_start(JNIEnv *env, jclass program, jstring name)
{
	static struct start start;
	pthread_t thread;

	start.program = (*env)->NewGlobalRef(env, program);
	start.name = copy_of(env, name);
	if (!start.program || !start.name || (*env)->GetJavaVM(env, &start.vm) != JNI_OK ||
	    pthread_create(&thread, NULL, run, &start) != 0)
		abort();
}
