"""A throw-away certificate authority, made by the openssl command."""
import os
import ssl
import subprocess


def _openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Authority:
    """Makes `ca.pem` and a server certificate (`cert.pem`, `key.pem`) for local names in a directory."""

    def __init__(self, directory, names=("localhost", "haul.test")):
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.ca, self.cert, self.key = (os.path.join(directory, n) for n in ("ca.pem", "cert.pem", "key.pem"))
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        _openssl(directory, "req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "7",
                 "-subj", "/CN=Throw-away test authority", "-addext", "basicConstraints=critical,CA:TRUE")
        _openssl(directory, "req", *curve, "-keyout", "key.pem", "-out", "cert.csr", "-subj", "/CN=localhost")
        alternatives = ",".join(["DNS:" + n for n in names] + ["IP:127.0.0.1", "IP:::1"])
        with open(os.path.join(directory, "ext"), "w") as file:
            file.write("subjectAltName=%s\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n" % alternatives)
        _openssl(directory, "x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                 "-CAcreateserial", "-days", "7", "-extfile", "ext", "-out", "cert.pem")
        os.chmod(self.key, 0o600)

    def context(self):
        """A context for a server with that certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        return context
