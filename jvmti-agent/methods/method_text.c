// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the JVM for a method's names. Local references are deleted at once: a callback on a thread
 * of the JVM would delete them at its end, but there may be one for each inlined method.
 */
#include "methods/method_text.h"

static void drop_reference(const struct method_reader *reader, jobject object)
{
	void *jni = NULL;

	if ((*reader->vm)->GetEnv(reader->vm, &jni, JNI_VERSION_1_2) == JNI_OK)
		(*(JNIEnv *)jni)->DeleteLocalRef(jni, object);
}

static bool read_class(const struct method_reader *reader, jmethodID method,
		       struct method_text *ret)
{
	jvmtiEnv *jvmti = reader->jvmti;
	jclass class = NULL;
	jvmtiError err;
	bool good;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
		return false;
	good = (*jvmti)->GetClassSignature(jvmti, class, &ret->class_sig, NULL) == JVMTI_ERROR_NONE;
	if (reader->source_files) {
		err = (*jvmti)->GetSourceFileName(jvmti, class, &ret->source_file);
		good = good && (err == JVMTI_ERROR_NONE || err == JVMTI_ERROR_ABSENT_INFORMATION);
	}
	drop_reference(reader, class);
	return good;
}

bool method_text_read(const struct method_reader *reader, jmethodID method, struct method_text *ret)
{
	jvmtiEnv *jvmti = reader->jvmti;

	*ret = (struct method_text){0};
	return (*jvmti)->GetMethodName(jvmti, method, &ret->name, &ret->sig, NULL) ==
		       JVMTI_ERROR_NONE &&
	       read_class(reader, method, ret);
}

void method_text_free(const struct method_reader *reader, struct method_text *text)
{
	char *const texts[] = {text->class_sig, text->name, text->sig, text->source_file};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i])
			(*reader->jvmti)->Deallocate(reader->jvmti, (unsigned char *)texts[i]);
	}
	*text = (struct method_text){0};
}

/*
 * Sorts lines, which a class file may list in any order. Shell's sort needs no memory, and is fast
 * if the lines are sorted already.
 */
static void sort(struct wire_line *lines, uint32_t n)
{
	for (uint32_t gap = n / 2; gap > 0; gap /= 2) {
		for (uint32_t i = gap; i < n; i++) {
			const struct wire_line moved = lines[i];
			uint32_t to = i;

			for (; to >= gap && lines[to - gap].bci > moved.bci; to -= gap)
				lines[to] = lines[to - gap];
			lines[to] = moved;
		}
	}
}

uint32_t method_text_read_lines(const struct method_reader *reader, jmethodID method,
				struct wire_line lines[METHOD_LINES_MAX])
{
	jvmtiEnv *jvmti = reader->jvmti;
	jvmtiLineNumberEntry *entries = NULL;
	bool is_sorted = true;
	uint32_t n = 0;
	jint count = 0;

	if (!reader->lines ||
	    (*jvmti)->GetLineNumberTable(jvmti, method, &count, &entries) != JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < count && count <= METHOD_LINES_MAX; i++) {
		lines[n].bci = (uint32_t)entries[i].start_location;
		lines[n].line = (uint32_t)entries[i].line_number;
		is_sorted = is_sorted && (n == 0 || lines[n - 1].bci <= lines[n].bci);
		n++;
	}
	if (entries)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)entries);
	if (!is_sorted)
		sort(lines, n);
	return n;
}
