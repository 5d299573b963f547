# SPDX-License-Identifier: Apache-2.0
"""Packages of npm without npm: a pinned file of the registry, checked, once, and unpacked.

npm's own configuration says which registry, which proxy and whose certificates: npm_config_* in the
environment, then the user's npmrc, then the machine's. Without any it is the public one. Passwords
are not read.
"""

import base64
import hashlib
import http.client
import os
import pathlib
import re
import ssl
import tarfile
import time
import urllib.error
import urllib.request

PUBLIC = "https://registry.npmjs.org/"
MOST_BYTES = 16 << 20
TRIES, WAIT_SEC, TIMEOUT_SEC = 3, 2, 20


class NotFetched(Exception):
    """The registry does not answer, or has no such file."""


def from_environment(key):
    for name, value in os.environ.items():
        if name.lower().replace("-", "_") == "npm_config_" + key.replace("-", "_") and value:
            return value
    return None


def npmrc_files():
    yield pathlib.Path(from_environment("userconfig") or pathlib.Path.home() / ".npmrc")
    if from_environment("globalconfig"):
        yield pathlib.Path(from_environment("globalconfig"))
    yield from (pathlib.Path(at) for at in ("/usr/local/etc/npmrc", "/etc/npmrc", "/usr/etc/npmrc"))


def from_files(key):
    for path in npmrc_files():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found = re.findall(rf"^\s*{re.escape(key)}\s*=[ \t]*(.*?)[ \t]*$", text, re.M)
        if found:
            return re.sub(r"\$\{(\w+)\}", lambda name: os.environ.get(name[1], name[0]),
                          found[-1].strip("\"'"))
    return None


def configured(key):
    return from_environment(key) or from_files(key)


def registry():
    """Without the password that may be in it: messages show it."""
    return re.sub(r"//[^/@]*@", "//", configured("registry") or PUBLIC).rstrip("/")


def opener():
    """urllib's, which goes by HTTPS_PROXY and SSL_CERT_FILE besides."""
    context = ssl.create_default_context()
    for path in (configured("cafile"), os.environ.get("NODE_EXTRA_CA_CERTS")):
        if path and os.path.exists(path):
            context.load_verify_locations(path)
    handlers = [urllib.request.HTTPSHandler(context=context)]
    proxy = configured("https-proxy") or configured("proxy")
    if proxy and proxy not in ("null", "false"):
        handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    return urllib.request.build_opener(*handlers)


def download(url):
    for tried in range(1, TRIES + 1):
        try:
            with opener().open(url, timeout=TIMEOUT_SEC) as answer:
                return answer.read(MOST_BYTES)
        except (OSError, ValueError, http.client.HTTPException) as error:
            refused = isinstance(error, urllib.error.HTTPError) and error.code < 500
            if refused or tried == TRIES:
                raise NotFetched(f"{url}: {error}") from error
            time.sleep(WAIT_SEC)


def integrity_of(data):
    """As package-lock.json writes it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def fetch(name, version, integrity, directory):
    """The package's file, which stays in directory; NotFetched says what to do without a registry."""
    kept = pathlib.Path(directory) / f"{name}-{version}.tgz"
    if kept.exists() and integrity_of(kept.read_bytes()) == integrity:
        return kept
    url = f"{registry()}/{name}/-/{kept.name}"
    try:
        data = download(url)
    except NotFetched as error:
        raise NotFetched(f"{error}. Put that file at {kept}, or say by npm_config_registry where "
                         "there is a registry") from error
    if integrity_of(data) != integrity:
        raise ValueError(f"{url} is not the file that is meant: its integrity is "
                         f"{integrity_of(data)}, not {integrity}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_bytes(data)
    part.replace(kept)
    return kept


def unpack(file, folder, into):
    """The files right in one folder of a package."""
    with tarfile.open(file) as package:
        for member in package:
            path = pathlib.PurePosixPath(member.name)
            if member.isfile() and path.parent == pathlib.PurePosixPath("package") / folder:
                (pathlib.Path(into) / path.name).write_bytes(package.extractfile(member).read())
