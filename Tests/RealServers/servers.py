"""Real servers as child processes: each with a directory, a configuration and ports of its own."""
import hashlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "checks"))

from support import harness  # noqa: E402
from support.harness import KIB, MIB, Box, Content, Failed, Text, spawn, stop  # noqa: E402
from support.tls import Authority  # noqa: E402

USER, PASSWORD = "tester", "cor-rect-horse"
BIG = Content("big", 8 * MIB)
SMALL = Content("small", 30_000)
NAMES = ("with space.bin", "ünï-日本.bin", "100% & +plus#.bin")
NOTES = Text(b"".join(b"note %d: words that a server likes to compress\n" % n for n in range(30_000)), "notes")


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Relay:
    """Passes TCP connections on, at so many bytes a second each, and counts what it sent to the clients."""

    def __init__(self, port, rate=None):
        self.target, self.rate = port, rate
        self.body_sent = self.accepted = 0
        self.closing = False
        self.lock = threading.Lock()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * KIB)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        self.sockets = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.closing:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket()
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * KIB)
            try:
                far.connect(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.accepted += 1
                self.sockets |= {near, far}
            threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source, target, paced):
        start, sent = time.monotonic(), 0
        try:
            while data := source.recv(16 * KIB):
                target.sendall(data)
                if paced:
                    sent += len(data)
                    with self.lock:
                        self.body_sent += len(data)
                    if self.rate:
                        ahead = sent / self.rate - (time.monotonic() - start)
                        if ahead > 0:
                            time.sleep(ahead)
                        elif ahead < -0.5:  # it was idle: no burst afterwards
                            start, sent = time.monotonic(), 0
        except OSError:
            pass
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.closing = True
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        for sock in self.sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


class Stage:
    """What all servers share: the directory they live in, the files they serve, the certificates."""

    def __init__(self):
        self.box = Box()
        self.root = self.box.root
        self.docs = self.directory("docs")
        self.tls = Authority(self.directory("tls"))
        self.running = {}
        self.lock = threading.Lock()
        for name, content in (("big.bin", BIG), ("small.bin", SMALL), ("notes.txt", NOTES)):
            content_to(os.path.join(self.docs, name), content)
        for name in NAMES:
            content_to(os.path.join(self.docs, name), SMALL)
        many = self.directory("docs/many")
        for number in range(60):
            content_to(os.path.join(many, "%02d" % number), SMALL)

    def directory(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o755)
        return path

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def server(self, kind):
        """The one server of a kind, started when first asked for. A start that failed fails every check on it."""
        with self.lock:
            if kind not in self.running:
                for _ in range(3):  # a port that was free a moment ago may be taken by now
                    try:
                        self.running[kind] = kind(self)
                        break
                    except (Failed, OSError, subprocess.SubprocessError) as problem:
                        self.running[kind] = problem
            server = self.running[kind]
        if isinstance(server, Exception):
            raise Failed("%s was not started: %s" % (kind.__name__, server))
        return server

    def close(self):
        for server in self.running.values():
            if not isinstance(server, Exception):
                server.close()
        self.box.close()


def content_to(path, content):
    with open(path, "wb") as file:
        file.write(content.all())
    os.utime(path, (1_700_000_000, 1_700_000_000))


class Daemon:
    """A server process that runs in the foreground."""

    def __init__(self, stage):
        self.stage = stage
        self.home = stage.directory(type(self).__name__.lower())

    def launch(self, argv, ports, env=None):
        path = shutil.which(argv[0], path="/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", ""))
        if path is None:
            raise Failed("%s is not installed" % argv[0])
        self.log_path = os.path.join(self.home, "daemon.log")
        with open(self.log_path, "wb") as log:
            self.child = spawn([path] + argv[1:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                               env=env or dict(os.environ, HOME=self.home))
        end = time.monotonic() + 10
        for port in ports:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if self.child.poll() is not None or time.monotonic() > end:
                        self.close()
                        raise Failed("no answer on port %d: %s" % (port, self.said())) from None
                    time.sleep(0.05)

    def said(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()[-400:].strip().replace("\n", " | ")

    def close(self):
        stop(self.child)


def password_file(stage, name):
    hashed = subprocess.run(["openssl", "passwd", "-apr1", PASSWORD], capture_output=True, text=True, check=True)
    return stage.write(name, "%s:%s\n" % (USER, hashed.stdout.strip()))


class Nginx(Daemon):
    def __init__(self, stage):
        super().__init__(stage)
        self.http, self.https = free_port(), free_port()
        self.access = os.path.join(self.home, "access.log")
        words = password_file(stage, "nginx/passwords")
        body = """
            root %(docs)s;
            location /private/ { alias %(docs)s/; auth_basic "tests"; auth_basic_user_file %(words)s; }
            location /slow/ { alias %(docs)s/; limit_rate 4m; }
            location /limited/ { alias %(docs)s/; limit_conn connections 2; limit_rate 2m; }
            location /moved/ { rewrite ^/moved/(.*)$ https://127.0.0.1:%(https)d/$1 permanent; }
        """ % {"docs": stage.docs, "words": words, "https": self.https}
        temporary = "".join("%s_temp_path %s/%s;\n" % (n, self.home, n) for n in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config = stage.write("nginx/nginx.conf", """
            daemon off; worker_processes 2; user www-data; pid %(home)s/pid; error_log %(home)s/error.log;
            events { worker_connections 512; }
            http {
              %(temporary)s
              types { text/plain txt; application/octet-stream bin; }
              log_format wire '$server_protocol $status $body_bytes_sent $request_uri';
              access_log %(access)s wire;
              sendfile on; gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
              limit_conn_zone $server_port zone=connections:1m;
              server { listen 127.0.0.1:%(http)d; %(body)s }
              server {
                listen 127.0.0.1:%(https)d ssl http2;
                ssl_certificate %(cert)s; ssl_certificate_key %(key)s; %(body)s }
            }
        """ % {"home": self.home, "temporary": temporary, "access": self.access, "http": self.http,
               "https": self.https, "cert": stage.tls.cert, "key": stage.tls.key, "body": body})
        self.launch(["nginx", "-p", self.home, "-e", self.home + "/error.log", "-c", config], (self.http, self.https))

    def lines(self):
        with open(self.access) as log:
            return log.read().splitlines()


class Apache(Daemon):
    MODULES = ("mpm_event", "authz_core", "authz_user", "authn_core", "authn_file", "auth_basic", "auth_digest",
               "alias", "dir", "mime", "filter", "deflate", "headers", "negotiation", "setenvif")

    def __init__(self, stage):
        super().__init__(stage)
        self.http = free_port()
        words = password_file(stage, "apache/passwords")
        digest = hashlib.md5(("%s:tests:%s" % (USER, PASSWORD)).encode()).hexdigest()
        digests = stage.write("apache/digests", "%s:tests:%s\n" % (USER, digest))
        packed = stage.directory("apache/packed")
        content_to(packed + "/notes.txt", NOTES)
        stage.write("apache/packed/.htaccess", "SetOutputFilter DEFLATE\n")
        variants = stage.directory("apache/variants")
        content_to(variants + "/page.txt.en", NOTES)
        content_to(variants + "/page.txt.de", SMALL)
        modules = "\n".join("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so" % (m, m) for m in self.MODULES)
        config = stage.write("apache/httpd.conf", """
            ServerRoot %(home)s
            ServerName 127.0.0.1
            PidFile %(home)s/pid
            ErrorLog %(home)s/error.log
            Mutex pthread
            %(modules)s
            User www-data
            Group www-data
            Listen 127.0.0.1:%(port)d
            TypesConfig /dev/null
            AddType text/plain txt
            AddLanguage en en
            AddLanguage de de
            DocumentRoot %(docs)s
            <Directory />
              Require all granted
              AllowOverride All
              Options FollowSymLinks
            </Directory>
            Alias /packed/ %(home)s/packed/
            Alias /variants/ %(home)s/variants/
            Alias /basic/ %(docs)s/
            Alias /digest/ %(docs)s/
            <Location /variants/>
              Options MultiViews
              LanguagePriority en de
              ForceLanguagePriority Prefer Fallback
            </Location>
            <Location /basic/>
              AuthType Basic
              AuthName tests
              AuthUserFile %(words)s
              Require valid-user
            </Location>
            <Location /digest/>
              AuthType Digest
              AuthName tests
              AuthDigestProvider file
              AuthUserFile %(digests)s
              Require valid-user
            </Location>
        """ % {"home": self.home, "modules": modules, "port": self.http, "docs": stage.docs, "words": words,
               "digests": digests})
        self.launch(["apache2", "-f", config, "-DFOREGROUND"], (self.http,))


class Caddy(Daemon):
    def __init__(self, stage):
        super().__init__(stage)
        # The TLS listener answers any Host, as a relay in between changes the port.
        self.http, self.any_https = free_port(), free_port()
        config = stage.write("caddy/Caddyfile", """
{
	admin off
	auto_https off
	http_port %d
	skip_install_trust
}
http://127.0.0.1:%d {
	bind 127.0.0.1
	root * %s
	file_server
}
:%d {
	bind 127.0.0.1
	tls %s %s
	root * %s
	file_server
}
""" % (self.http, self.http, stage.docs, self.any_https, stage.tls.cert, stage.tls.key, stage.docs))
        env = dict(os.environ, HOME=self.home, XDG_DATA_HOME=self.home, XDG_CONFIG_HOME=self.home)
        self.launch(["caddy", "run", "--config", config, "--adapter", "caddyfile"], (self.http, self.any_https), env)


class PythonServer(Daemon):
    def __init__(self, stage):
        super().__init__(stage)
        self.http = free_port()
        self.launch([sys.executable, "-m", "http.server", str(self.http), "--bind", "127.0.0.1", "--directory",
                     stage.docs], (self.http,))


def homely_user():
    """An unprivileged system user whose home exists: vsftpd goes there before it goes to its root."""
    for name in ("ftp", "www-data", "daemon", "bin"):
        try:
            if os.path.isdir(pwd.getpwnam(name).pw_dir):
                return name
        except KeyError:
            continue
    raise Failed("no unprivileged user with a home")


class Vsftpd(Daemon):
    """Anonymous logins that need a listed password: no system account is touched."""
    RATE = 2 * MIB
    implicit_tls = False

    def __init__(self, stage):
        super().__init__(stage)
        self.port = free_port()
        self.transfers = os.path.join(self.home, "xferlog")
        name = type(self).__name__.lower()
        words = stage.write(name + "/words", PASSWORD + "\n")
        empty = stage.directory(name + "/empty")
        lines = {
            "listen": "YES", "listen_address": "127.0.0.1", "listen_port": self.port, "background": "NO",
            "anonymous_enable": "YES", "local_enable": "NO", "ftp_username": homely_user(), "anon_root": stage.docs,
            "secure_email_list_enable": "YES", "email_password_file": words, "anon_max_rate": self.RATE,
            "xferlog_enable": "YES", "xferlog_std_format": "YES", "xferlog_file": self.transfers,
            "secure_chroot_dir": empty, "seccomp_sandbox": "NO", "isolate": "NO", "isolate_network": "NO",
            "anon_world_readable_only": "NO", "delay_failed_login": 0, "max_login_fails": 3,
        }
        if self.implicit_tls:
            lines.update({"ssl_enable": "YES", "implicit_ssl": "YES", "allow_anon_ssl": "YES",
                          "force_anon_logins_ssl": "YES", "force_anon_data_ssl": "YES", "require_ssl_reuse": "NO",
                          "ssl_ciphers": "HIGH", "rsa_cert_file": stage.tls.cert,
                          "rsa_private_key_file": stage.tls.key})
        config = stage.write(name + "/vsftpd.conf", "".join("%s=%s\n" % pair for pair in lines.items()))
        self.launch(["vsftpd", config], (self.port,))

    def sent(self, name):
        """Body bytes sent of a file, by the transfer log."""
        total = 0
        if os.path.exists(self.transfers):
            with open(self.transfers) as log:
                for line in log:
                    fields = line.split()
                    if len(fields) > 9 and fields[8].endswith(name):
                        total += int(fields[7])
        return total


class VsftpdTLS(Vsftpd):
    implicit_tls = True


class Sshd(Daemon):
    RUN = "/run/sshd"  # compiled in: the directory of the process without privileges

    def __init__(self, stage):
        super().__init__(stage)
        self.port = free_port()
        self.made = not os.path.isdir(self.RUN)
        if self.made:
            os.makedirs(self.RUN, 0o755)
        for name in ("host", "other-host", "user", "other-user"):
            if os.path.exists(os.path.join(self.home, name)):
                os.unlink(os.path.join(self.home, name))
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(self.home, name)],
                           check=True)
        shutil.copy(os.path.join(self.home, "user.pub"), os.path.join(self.home, "authorized"))
        config = stage.write("sshd/sshd_config", """
ListenAddress 127.0.0.1
Port %d
HostKey %s/host
PidFile none
AuthorizedKeysFile %s/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 50
Subsystem sftp internal-sftp
""" % (self.port, self.home, self.home))
        self.launch(["/usr/sbin/sshd", "-D", "-e", "-f", config], (self.port,))

    def known_hosts(self, box, port, key="host"):
        with open(os.path.join(self.home, key + ".pub")) as file:
            kind, data = file.read().split()[:2]
        return box.write("known_hosts", "[127.0.0.1]:%d %s %s\n" % (port, kind, data) if key else "")

    def close(self):
        super().close()
        if self.made:
            try:
                os.rmdir(self.RUN)
            except OSError:
                pass


class Tinyproxy(Daemon):
    def __init__(self, stage):
        super().__init__(stage)
        self.port = free_port()
        config = stage.write("tinyproxy/tinyproxy.conf", """
Port %d
Listen 127.0.0.1
Timeout 60
LogFile "%s/log"
PidFile "%s/pid"
LogLevel Info
MaxClients 100
BasicAuth %s %s
""" % (self.port, self.home, self.home, USER, PASSWORD))
        self.launch(["tinyproxy", "-d", "-c", config], (self.port,))


class Danted(Daemon):
    def __init__(self, stage):
        super().__init__(stage)
        self.port = free_port()
        config = stage.write("danted/danted.conf", """
logoutput: %s/log
internal: 127.0.0.1 port = %d
external: 127.0.0.1
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: nobody
client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 protocol: tcp }
""" % (self.home, self.port))
        self.launch(["danted", "-f", config, "-N", "1", "-p", self.home + "/pid"], (self.port,))
