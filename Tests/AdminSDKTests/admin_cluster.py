"""What firebase-admin, as it comes from PyPI, does at several servers whose leader is killed.

HEARTH_SERVERS has the servers, each as PROCESS@URL; HEARTH_KEY has the secret of their administrators.
A server reaches PostgreSQL for as long as HEARTH_CUTS, a folder, has no file that is named as its process.
"""

import contextlib
import os
import pathlib
import queue
import signal
import socket
import sys
import threading
import time
import unittest
import uuid

import firebase_admin
import requests
from firebase_admin import credentials, db, exceptions
from google.oauth2.credentials import Credentials

SERVERS = [
    (int(process), url)
    for process, url in (text.split("@", 1) for text in os.environ["HEARTH_SERVERS"].split())
]
KEY = os.environ["HEARTH_KEY"]
CUTS = pathlib.Path(os.environ["HEARTH_CUTS"])
# The last server is sure to be missed within the time of a lease, and machines are busy.
PATIENCE = 60


@contextlib.contextmanager
def frozen(process):
    """Stops a server, which answers nothing but keeps its connections."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def cut_off(process):
    """Lets nothing pass between a server and PostgreSQL, without an error on either side."""
    cut = CUTS / str(process)
    cut.touch()
    try:
        yield
    finally:
        cut.unlink()


class Secret(credentials.Base):
    """The secret of the administrators, as a token that does not expire."""

    def get_credential(self):
        return Credentials(KEY)


class Listener:
    """What a listener was told, and whether it still listens."""

    def __init__(self, reference):
        self.events = queue.Queue()
        self.registration = reference.listen(
            lambda event: self.events.put((event.event_type, event.path, event.data))
        )

    @property
    def is_alive(self):
        return self.registration._thread.is_alive()

    def wait_for(self, wanted, patience=PATIENCE):
        """Takes events until one says what is wanted, and returns all of them."""
        seen = []
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                seen.append(self.events.get(timeout=0.5))
            except queue.Empty:
                continue
            if wanted(seen[-1]):
                return seen
        raise AssertionError(f"not told in time; told was {seen}")


class Balancer:
    """One name for all servers: takes connections in turn to those that say that they are ready.

    It looks every half second, as balancers do, and ends the connections to a server that is not.
    """

    def __init__(self):
        self.ready = {url: True for _, url in SERVERS}
        self.connections = {url: set() for _, url in SERVERS}
        self.turn = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "https://127.0.0.1:%d" % self.listener.getsockname()[1]
        for work in [self.accept] + [lambda url=url: self.look(url) for _, url in SERVERS]:
            threading.Thread(target=work, daemon=True).start()

    def look(self, url):
        while True:
            try:
                self.ready[url] = requests.get(f"{url}/readyz", timeout=2).status_code == 200
            except requests.RequestException:
                self.ready[url] = False
            if not self.ready[url]:
                for connection in list(self.connections[url]):
                    self.end(url, connection)
            time.sleep(0.5)

    def end(self, url, connection):
        self.connections[url].discard(connection)
        for end in connection:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            self.turn += 1
            for step in range(len(SERVERS)):
                _, url = SERVERS[(self.turn + step) % len(SERVERS)]
                if not self.ready[url]:
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), 2)
                except OSError:
                    continue
                server.settimeout(None)
                connection = (client, server)
                self.connections[url].add(connection)
                for source, sink in [(client, server), (server, client)]:
                    threading.Thread(
                        target=self.pass_on, args=(url, connection, source, sink), daemon=True
                    ).start()
                break
            else:
                client.close()

    def pass_on(self, url, connection, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        self.end(url, connection)


class ClusterTests(unittest.TestCase):
    def setUp(self):
        self.path = "/" + uuid.uuid4().hex
        self.apps = []

    def tearDown(self):
        for app in self.apps:
            firebase_admin.delete_app(app)

    def reference(self, url, path=""):
        """A reference of an administrator who knows one of the servers."""
        app = firebase_admin.initialize_app(
            Secret(), {"databaseURL": url}, name=uuid.uuid4().hex
        )
        self.apps.append(app)
        return db.reference(self.path + path, app=app)

    def leader(self, left=SERVERS):
        """The process and the URL of the server that leads, as those that are left say."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for process, url in left:
                try:
                    cluster = requests.get(
                        f"{url}/.info/metrics.json",
                        headers={"Authorization": f"Bearer {KEY}"},
                        timeout=PATIENCE,
                    ).json()["cluster"]
                except requests.RequestException:
                    continue
                here = [server["host"] for server in cluster["servers"] if server["here"]]
                if cluster["leases"].get("hearth", {}).get("leader") in here:
                    return process, url
            time.sleep(0.1)
        raise AssertionError("nobody leads")

    def test_1_every_server_takes_everything(self):
        for number, (_, url) in enumerate(SERVERS):
            reference = self.reference(url, f"/{number}")
            reference.set({"n": 1, "old": True})
            reference.update({"old": None, "s": "é & ?=#"})
            key = reference.child("list").push({"x": 1}).key
            self.assertEqual(reference.child("n").transaction(lambda n: n + 1), 2)
            value, etag = reference.child("n").get(etag=True)
            self.assertFalse(reference.child("n").set_if_unchanged("no", 7)[0])
            self.assertTrue(reference.child("n").set_if_unchanged(etag, value + 1)[0])
            self.assertEqual(
                reference.get(), {"n": 3, "s": "é & ?=#", "list": {key: {"x": 1}}}
            )
            self.assertEqual(
                dict(reference.child("list").order_by_child("x").equal_to(1).get()),
                {key: {"x": 1}},
            )
            listener = Listener(reference.child("n"))
            self.assertEqual(listener.wait_for(lambda event: True), [("put", "/", 3)])
            reference.child("n").set(4)
            listener.wait_for(lambda event: event == ("put", "/", 4))

    def test_3_a_leader_is_killed(self):
        process, url = self.leader()
        others = [other for _, other in SERVERS if other != url]
        at_leader = Listener(self.reference(url, "/n"))
        listeners = [Listener(self.reference(other, "/n")) for other in others]
        writer = self.reference(others[0], "/n")
        written, failed = 0, []

        def write():
            """Writes the next number, and again while nobody takes it."""
            nonlocal written
            number = written + 1
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    writer.set(number)
                    break
                except exceptions.UnavailableError as error:
                    failed.append(error)
                    self.assertLess(time.monotonic(), end, f"writes do not go on: {error}")
                    time.sleep(0.2)
            written = number

        for _ in range(5):
            write()
        for listener in listeners + [at_leader]:
            listener.wait_for(lambda event: event[2] == written)
        os.kill(process, signal.SIGKILL)
        killed = time.monotonic()
        write()
        missed = time.monotonic() - killed
        for _ in range(5):
            write()
        self.assertEqual(writer.get(), written)
        # Until its lease is near its end the others send requests to the leader, where nobody is: the SDK
        # asks there twice, and says that it is unavailable. Then they are held until another one leads.
        self.assertLess(len(failed), missed / 0.2 + 1)
        for listener in listeners:
            listener.wait_for(lambda event: event[2] == written)
            self.assertTrue(listener.is_alive)
        told = time.monotonic() - killed
        # Whoever comes later finds the same through either of the others.
        for other in others:
            self.assertEqual(self.reference(other, "/n").get(), written)
        # A listener asks the address that it knows once more, after 3 s; nobody is there any more.
        end = time.monotonic() + PATIENCE
        while at_leader.is_alive and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse(at_leader.is_alive, "it has found another server by itself")
        write()
        for listener in listeners:
            listener.wait_for(lambda event: event == ("put", "/", written))
        print(f"writes went on after {missed:.1f} s ({len(failed)} failed), listeners after {told:.1f} s")

    def test_2_one_name_outlives_its_servers(self):
        balancer = Balancer()
        writer = self.reference(balancer.url, "/n")
        writer.set(0)
        listeners = [Listener(self.reference(balancer.url, "/n")) for _ in range(3)]
        told = [[] for _ in listeners]
        written = 0

        def write(times):
            """Writes the next numbers, each again while nobody takes it, and has all hear of the last."""
            nonlocal written
            for _ in range(times):
                end = time.monotonic() + PATIENCE
                while True:
                    try:
                        writer.set(written + 1)
                        break
                    except exceptions.FirebaseError as error:
                        self.assertLess(time.monotonic(), end, f"writes do not go on: {error}")
                        time.sleep(0.2)
                written += 1
                self.assertEqual(writer.get(), written)
            for listener, numbers in zip(listeners, told):
                for event in listener.wait_for(lambda event: event[2] == written):
                    numbers.append(event[2])
                self.assertTrue(listener.is_alive)

        write(10)
        left = list(SERVERS)
        # What a leader has to say once it is back comes too late.
        for fault in [frozen, cut_off]:
            for leads in [True, False]:
                leader = self.leader()
                victim = leader if leads else next(other for other in left if other != leader)
                with fault(victim[0]):
                    write(10)
                    successor = self.leader([other for other in left if other != victim])
                    self.assertEqual(successor == leader, not leads)
                write(10)
        # A server is killed that only follows, and then the leader.
        for leads in [False, True]:
            leader = self.leader(left)
            victim = leader if leads else next(other for other in left if other != leader)
            os.kill(victim[0], signal.SIGKILL)
            left.remove(victim)
            write(10)
        for numbers in told:
            self.assertEqual(numbers, sorted(numbers), "something that was seen went back")


if __name__ == "__main__":
    # Listeners end only at the next sign of life of their servers, and would keep the process till then.
    outcome = unittest.main(exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if outcome.result.wasSuccessful() else 1)
