# SPDX-License-Identifier: Apache-2.0
"""Completions as the shells themselves make them, of what cmake --install has put below a prefix.

shell.complete("fgcollect record --u") is the set of what that shell offers there.
"""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import tempfile
import time

DEADLINE_SEC = 30


class Terminal:
    """An interactive shell on a terminal of its own, whose output is thrown away."""

    def __init__(self, args, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(args[0], args, env)
        self.text = b""

    def type(self, text):
        os.write(self.fd, text.encode())

    def drain(self):
        while select.select([self.fd], [], [], 0.02)[0]:
            try:
                self.text += os.read(self.fd, 65536)
            except OSError:
                return

    def wait_for(self, path):
        """The content of a file, once it ends with a line END."""
        end = time.monotonic() + DEADLINE_SEC
        while time.monotonic() < end:
            self.drain()
            if path.exists():
                text = path.read_text()
                if text.endswith("END\n"):
                    return text[:-len("END\n")]
        raise AssertionError(f"the shell has not answered; it wrote:\n{self.text.decode()}")

    def close(self):
        os.close(self.fd) # a shell ends without its terminal
        os.waitpid(self.pid, 0)


class Shell:
    program = None
    package = None # None: called as the program

    def __init__(self, prefix, directory, path):
        share = pathlib.Path(prefix) / "share"
        self.share, self.directory = share, pathlib.Path(directory)
        self.env = {"PATH": f"{path}:{os.environ['PATH']}", "HOME": str(directory), "TERM": "xterm",
                    "LC_ALL": "C.UTF-8", "XDG_DATA_DIRS": f"{share}:/usr/share",
                    "XDG_CONFIG_HOME": str(directory), "XDG_DATA_HOME": str(directory),
                    "XDG_CACHE_HOME": str(directory)}
        self.terminal = None

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program) is not None

    def answer_file(self):
        handle, path = tempfile.mkstemp(dir=self.directory)
        os.close(handle)
        os.unlink(path)
        return pathlib.Path(path)

    def close(self):
        if self.terminal:
            self.terminal.close()


class Bash(Shell):
    """All completions are put into the line, which then is a command that prints its words."""

    program = "bash"
    completions = pathlib.Path("/usr/share/bash-completion/bash_completion")
    package = "bash-completion"

    @classmethod
    def is_there(cls):
        return super().is_there() and cls.completions.exists()

    def complete(self, line):
        if not self.terminal:
            self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.env)
            self.terminal.type(f". {self.completions}\n"
                               "bind 'set enable-bracketed-paste off'\n")
        answer = self.answer_file()
        # What stands before the completed word is cut away by its number.
        words = len(line.split(" "))
        self.terminal.type(f"{line}\x1b*\x01answer {words - 1} {answer} \n")
        return set(self.terminal.wait_for(answer).split("\n")) - {""}

    def __init__(self, prefix, directory, path):
        super().__init__(prefix, directory, path)
        script = pathlib.Path(path) / "answer"
        script.write_text("#!/bin/bash\nfile=$2\nshift $(($1 + 2))\n"
                          "{ printf '%s\\n' \"$@\"; echo END; } >\"$file\"\n")
        script.chmod(0o755)


class Zsh(Shell):
    """What the completion functions hand to compadd is written down."""

    program = "zsh"
    SETUP = """
PS1= PS2= RPS1= LISTMAX=100000
fpath=({share}/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' completer _complete
compadd() {{
  if [[ " ${{@[1,(i)(-|--)]}} " == *' -'[a-zA-Z]#[OAD]' '* ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -A hits "$@"
  (( $#hits )) && print -lr -- $hits >>$answer.part
  builtin compadd "$@"
}}
answered() {{ print END >>$answer.part; mv $answer.part $answer }}
setopt extendedglob
complete-and-say() {{
  comppostfuncs=(answered)
  zle list-choices-of-it
  zle kill-buffer
}}
zle -C list-choices-of-it list-choices _main_complete
zle -N complete-and-say
bindkey '^I' complete-and-say
"""

    def complete(self, line):
        if not self.terminal:
            setup = self.directory / "setup.zsh"
            setup.write_text(self.SETUP.format(share=self.share))
            self.terminal = Terminal(["zsh", "-f", "-i"], self.env)
            self.terminal.type(f". {setup}\n")
        answer = self.answer_file()
        self.terminal.type(f"answer={answer}\n{line}\t")
        return set(self.terminal.wait_for(answer).split("\n")) - {""}


class Fish(Shell):
    program = "fish"

    def complete(self, line):
        made = subprocess.run(["fish", "-c", "complete -C $argv[1]", line], env=self.env, check=True,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if made.stderr:
            raise AssertionError(made.stderr)
        return {row.split("\t")[0] for row in made.stdout.splitlines()}


SHELLS = (Bash, Zsh, Fish)
