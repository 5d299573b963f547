# SPDX-License-Identifier: Apache-2.0
"""Certificates of two authorities: one has signed a server's and a client's, the other nothing."""

import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
DAYS = ("-days", "2")


def make(directory, names="IP:127.0.0.1"):
    """ca, other, server and client, each as .pem and .key; names: whose the signed ones are."""
    directory.mkdir()

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=directory, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name in ("ca", "other"):
        openssl("req", "-x509", *KEY, *DAYS, "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.pem")
    (directory / "names").write_text(f"subjectAltName={names}\n")
    for name in ("server", "client"):
        openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", *DAYS, "-extfile", "names", "-out", f"{name}.pem")
    return directory
