"""What firebase-admin, as it comes from PyPI, does at several servers whose leader is killed.

HEARTH_SERVERS has the servers, each as PROCESS@URL; HEARTH_KEY has the secret of their administrators.
"""

import os
import queue
import signal
import sys
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
# The last server is sure to be missed within the time of a lease, and machines are busy.
PATIENCE = 60


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

    def leader(self):
        """The process and the URL of the server that answers by itself."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for process, url in SERVERS:
                try:
                    answer = requests.get(
                        f"{url}/.json?shallow=true&ns=hearth",
                        headers={"Authorization": f"Bearer {KEY}"},
                        allow_redirects=False,
                        timeout=PATIENCE,
                    )
                except requests.RequestException:
                    continue
                if answer.status_code == 200:
                    return process, url
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

    def test_2_a_leader_is_killed(self):
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


if __name__ == "__main__":
    # Listeners end only at the next sign of life of their servers, and would keep the process till then.
    outcome = unittest.main(exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if outcome.result.wasSuccessful() else 1)
