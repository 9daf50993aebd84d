"""What firebase-admin, as it comes from PyPI, does with a server in emulator mode.

FIREBASE_DATABASE_EMULATOR_HOST names the server. Each test has a database of its own, which comes to be
when it is first used.
"""

import concurrent.futures
import json
import multiprocessing
import os
import queue
import threading
import unittest
import uuid

import firebase_admin
import requests
from firebase_admin import db, exceptions

HOST = os.environ["FIREBASE_DATABASE_EMULATOR_HOST"]
PATIENCE = 20


class DatabaseTest(unittest.TestCase):
    """A database, and administrators and others who use it."""

    def setUp(self):
        self.namespace = "t-" + uuid.uuid4().hex[:20]
        self.apps = []
        self.root = self.reference()

    def tearDown(self):
        for app in self.apps:
            firebase_admin.delete_app(app)

    def reference(self, path="/", **options):
        """A reference of an app of its own; without options an administrator's."""
        options["databaseURL"] = f"https://{self.namespace}.firebaseio.com"
        app = firebase_admin.initialize_app(options=options, name=uuid.uuid4().hex)
        self.apps.append(app)
        return db.reference(path, app=app)

    def acting_as(self, auth, path="/"):
        """A reference that rules see as someone; with None as nobody."""
        return self.reference(path, databaseAuthVariableOverride=auth)

    def put_rules(self, rules, token="owner", **parameters):
        """Loads rules, as test suites do."""
        parameters["ns"] = self.namespace
        return requests.put(
            f"http://{HOST}/.settings/rules.json",
            params=parameters,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            data=rules if isinstance(rules, str) else json.dumps(rules),
            timeout=PATIENCE,
        )

    def load(self, rules):
        answer = self.put_rules(rules)
        self.assertEqual((answer.status_code, answer.json()), (200, {"status": "ok"}))

    def denied(self):
        """Expects a refusal by the rules."""
        return self.assertRaisesRegex(exceptions.UnauthenticatedError, "Permission denied")


class DataTests(DatabaseTest):
    """set, get, push, update, delete."""

    def test_every_kind_of_value_comes_back(self):
        leaves = [True, False, 0, -7, 2**53, 0.5, 1e300, "", "é 🐵"]
        for value in leaves + [{"a": {"b": 1}}, [1, "x", True]]:
            self.root.child("v").set(value)
            self.assertEqual(self.root.child("v").get(), value)

    def test_what_is_not_there_is_none(self):
        self.assertIsNone(self.root.child("nothing/here").get())

    def test_set_replaces_everything_below(self):
        self.root.child("a").set({"x": 1, "y": 2})
        self.root.child("a").set({"z": 3})
        self.assertEqual(self.root.get(), {"a": {"z": 3}})

    def test_keys_may_be_of_any_script(self):
        self.root.child("ключ é/a b%+").set(1)
        self.assertEqual(self.root.get(), {"ключ é": {"a b%+": 1}})
        self.assertEqual(self.root.child("ключ é/a b%+").get(), 1)

    def test_push_makes_keys_in_the_order_of_time(self):
        keys = [self.root.child("l").push({"n": n}).key for n in range(20)]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(len(set(keys)), 20)
        self.assertTrue(all(len(key) == 20 for key in keys))
        numbers = [child["n"] for child in self.root.child("l").get().values()]
        self.assertEqual(numbers, list(range(20)))

    def test_push_without_a_value_makes_an_empty_text(self):
        self.assertEqual(self.root.push().get(), "")

    def test_update_leaves_the_others_alone(self):
        self.root.set({"a": 1, "b": 2})
        self.root.update({"b": 3, "c": {"d": 4}})
        self.assertEqual(self.root.get(), {"a": 1, "b": 3, "c": {"d": 4}})

    def test_update_takes_deep_paths_and_none_all_at_once(self):
        self.root.set({"posts": {"p": {"n": 1, "old": 1}}, "users": {"u": {"p": 1}}})
        self.root.update({"posts/p/n": 2, "posts/p/old": None, "users/u/p": None})
        self.assertEqual(self.root.get(), {"posts": {"p": {"n": 2}}})

    def test_update_is_refused_as_a_whole(self):
        self.root.set({"a": 1})
        with self.assertRaises(exceptions.InvalidArgumentError):
            self.root.update({"a": 2, "b.c": 3})
        self.assertEqual(self.root.get(), {"a": 1})

    def test_delete_removes_and_may_be_repeated(self):
        self.root.set({"a": 1, "b": 2})
        self.root.child("a").delete()
        self.root.child("a").delete()
        self.assertEqual(self.root.get(), {"b": 2})

    def test_server_values_are_decided(self):
        self.root.set({"n": 5})
        self.root.update({"n": {".sv": {"increment": 2}}, "at": {".sv": "timestamp"}})
        data = self.root.get()
        self.assertEqual(data["n"], 7)
        self.assertGreater(data["at"], 1_600_000_000_000)

    def test_shallow_reads_have_keys_alone(self):
        self.root.set({"a": {"b": 1}, "c": 2})
        self.assertEqual(self.root.get(shallow=True), {"a": True, "c": True})
        self.assertEqual(self.root.child("c").get(shallow=True), 2)

    def test_lists_come_back_as_lists(self):
        self.root.child("l").set(["a", "b"])
        self.assertEqual(self.root.child("l").get(), ["a", "b"])
        self.assertEqual(self.root.child("l/1").get(), "b")

    def test_the_url_may_name_the_server_itself(self):
        self.root.set("here")
        url = f"http://{HOST}/?ns={self.namespace}"
        self.assertEqual(db.reference("/", app=self.apps[0], url=url).get(), "here")

    def test_databases_are_apart(self):
        self.root.set(1)
        self.namespace = "t-" + uuid.uuid4().hex[:20]
        self.assertIsNone(self.reference().get())


class QueryTests(DatabaseTest):
    """order_by_*, limits and bounds, and the order of what comes."""

    DINOSAURS = {
        "bruhathkayosaurus": {"height": 25, "order": "saurischia", "score": 55},
        "lambeosaurus": {"height": 2.1, "order": "ornithischia", "score": 21},
        "linhenykus": {"height": 0.6, "order": "theropoda", "score": 80},
        "pterodactyl": {"height": 0.6, "order": "pterosauria", "score": 93},
        "stegosaurus": {"height": 4, "order": "ornithischia", "score": 5},
        "triceratops": {"height": 3, "order": "ornithischia", "score": 22},
    }

    def setUp(self):
        super().setUp()
        indexes = {"d": {".indexOn": ["height", "order", "score", "deep/n"]}, "s": {".indexOn": ".value"}}
        self.load({"rules": indexes})
        self.d = self.root.child("d")
        self.d.set(self.DINOSAURS)

    def keys(self, query):
        return list(query.get().keys())

    def test_by_child_then_by_key(self):
        self.assertEqual(
            self.keys(self.d.order_by_child("height")),
            ["linhenykus", "pterodactyl", "lambeosaurus", "triceratops", "stegosaurus", "bruhathkayosaurus"],
        )

    def test_by_key(self):
        self.assertEqual(self.keys(self.d.order_by_key()), sorted(self.DINOSAURS))

    def test_by_value(self):
        scores = {key: value["score"] for key, value in self.DINOSAURS.items()}
        self.root.child("s").set(scores)
        found = self.root.child("s").order_by_value().get()
        self.assertEqual(list(found.items()), sorted(scores.items(), key=lambda item: item[1]))

    def test_limits_keep_either_end(self):
        by_score = self.d.order_by_child("score")
        self.assertEqual(self.keys(by_score.limit_to_first(2)), ["stegosaurus", "lambeosaurus"])
        by_score = self.d.order_by_child("score")
        self.assertEqual(self.keys(by_score.limit_to_last(2)), ["linhenykus", "pterodactyl"])
        self.assertEqual(self.keys(self.d.order_by_key().limit_to_first(1)), ["bruhathkayosaurus"])

    def test_bounds_are_inclusive(self):
        query = self.d.order_by_child("score").start_at(21).end_at(55)
        self.assertEqual(self.keys(query), ["lambeosaurus", "triceratops", "bruhathkayosaurus"])
        query = self.d.order_by_key().start_at("l").end_at("pterodactyl")
        self.assertEqual(self.keys(query), ["lambeosaurus", "linhenykus", "pterodactyl"])

    def test_bounds_and_a_limit(self):
        query = self.d.order_by_child("score").start_at(21).limit_to_first(2)
        self.assertEqual(self.keys(query), ["lambeosaurus", "triceratops"])
        query = self.d.order_by_child("score").end_at(55).limit_to_last(2)
        self.assertEqual(self.keys(query), ["triceratops", "bruhathkayosaurus"])

    def test_equal_to(self):
        self.assertEqual(
            self.keys(self.d.order_by_child("order").equal_to("ornithischia")),
            ["lambeosaurus", "stegosaurus", "triceratops"],
        )
        self.assertEqual(self.keys(self.d.order_by_key().equal_to("linhenykus")), ["linhenykus"])
        self.assertFalse(self.d.order_by_child("height").equal_to(99).get())

    def test_a_deep_path(self):
        self.d.set({"a": {"deep": {"n": 2}}, "b": {"deep": {"n": 1}}, "c": {"x": 1}})
        self.assertEqual(self.keys(self.d.order_by_child("deep/n")), ["c", "b", "a"])

    def test_values_of_all_kinds_have_one_order(self):
        mixed = {"t": "a", "n": 3, "f": False, "y": True, "m": -1, "e": ""}
        self.root.child("s").set(mixed)
        self.assertEqual(self.keys(self.root.child("s").order_by_value()), ["f", "y", "m", "n", "e", "t"])
        self.assertEqual(self.keys(self.root.child("s").order_by_value().limit_to_last(2)), ["e", "t"])

    def test_lists_are_queried_like_objects(self):
        self.root.child("s").set([5, 3, 4])
        found = self.root.child("s").order_by_value().limit_to_first(2).get()
        self.assertEqual(list(found.values()), [3, 4])

    def test_without_an_index_a_query_is_refused(self):
        self.d.child("x").set({"other": 1})
        refusal = 'Index not defined, add ".indexOn": "other", for path "/d", to the rules'
        with self.assertRaisesRegex(exceptions.InvalidArgumentError, refusal):
            self.d.order_by_child("other").limit_to_first(1).get()


class ConditionTests(DatabaseTest):
    """ETags: get, get_if_changed, set_if_unchanged."""

    def test_the_etag_changes_with_the_data_alone(self):
        self.root.set({"a": 1})
        value, etag = self.root.get(etag=True)
        self.assertEqual(value, {"a": 1})
        self.assertEqual(self.root.get(etag=True), (value, etag))
        self.root.child("a").set(2)
        self.assertNotEqual(self.root.get(etag=True)[1], etag)

    def test_no_data_have_an_etag_of_their_own(self):
        self.assertEqual(self.root.get(etag=True), (None, "null_etag"))

    def test_get_if_changed(self):
        self.root.set("one")
        etag = self.root.get(etag=True)[1]
        self.assertEqual(self.root.get_if_changed(etag), (False, None, None))
        self.root.set("two")
        changed, value, later = self.root.get_if_changed(etag)
        self.assertEqual((changed, value), (True, "two"))
        self.assertEqual(self.root.get(etag=True)[1], later)

    def test_set_if_unchanged(self):
        self.root.set("one")
        etag = self.root.get(etag=True)[1]
        succeeded, value, later = self.root.set_if_unchanged(etag, "two")
        self.assertEqual((succeeded, value), (True, "two"))
        succeeded, value, latest = self.root.set_if_unchanged(etag, "three")
        self.assertEqual((succeeded, value), (False, "two"))
        self.assertEqual(self.root.get(etag=True), ("two", latest))
        self.assertTrue(self.root.set_if_unchanged(latest, "three")[0])

    def test_of_many_who_create_one_succeeds(self):
        outcomes = []

        def create(number):
            outcomes.append(self.reference("x").set_if_unchanged("null_etag", number)[0])

        threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(sorted(outcomes), [False] * 7 + [True])


class TransactionTests(DatabaseTest):
    """transaction(), alone and against others."""

    def test_a_transaction_sees_and_replaces_the_value(self):
        self.root.set({"n": 1})
        self.assertEqual(self.root.transaction(lambda value: {"n": value["n"] + 1}), {"n": 2})
        self.assertEqual(self.root.get(), {"n": 2})

    def test_a_transaction_starts_from_nothing(self):
        self.assertEqual(self.root.child("n").transaction(lambda value: (value or 0) + 1), 1)

    def test_an_exception_leaves_everything_as_it_was(self):
        self.root.set(1)

        def fail(_):
            raise KeyError("no")

        with self.assertRaises(KeyError):
            self.root.transaction(fail)
        self.assertEqual(self.root.get(), 1)

    def test_a_change_in_between_runs_it_again(self):
        self.root.set(1)
        seen = []

        def disturbed(value):
            seen.append(value)
            if len(seen) == 1:
                self.root.set(10)
            return value + 1

        self.assertEqual(self.root.transaction(disturbed), 11)
        self.assertEqual(seen, [1, 10])

    def test_endless_disturbance_is_given_up_after_25_tries(self):
        self.root.set(0)
        tries = []

        def disturbed(value):
            tries.append(value)
            self.root.set(len(tries))
            return -1

        with self.assertRaises(db.TransactionAbortedError):
            self.root.transaction(disturbed)
        self.assertEqual(len(tries), 25)
        self.assertEqual(self.root.get(), 25)

    def test_counting_under_contention_is_exact(self):
        threads, rounds = 6, 15
        failures = []

        def count(reference):
            for _ in range(rounds):
                while True:
                    try:
                        reference.transaction(lambda value: (value or 0) + 1)
                        break
                    except db.TransactionAbortedError:
                        continue
                    except Exception as error:
                        failures.append(error)
                        return

        workers = [
            threading.Thread(target=count, args=(self.reference("n"),)) for _ in range(threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(PATIENCE)
        self.assertEqual(failures, [])
        self.assertEqual(self.root.child("n").get(), threads * rounds)


    def test_counting_in_several_processes_is_exact(self):
        processes, rounds = 3, 20
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(processes, context) as pool:
            counts = [
                pool.submit(count_in_another_process, self.namespace, rounds)
                for _ in range(processes)
            ]
            self.assertEqual([count.result(PATIENCE) for count in counts], [rounds] * processes)
        self.assertEqual(self.root.child("n").get(), processes * rounds)


def count_in_another_process(namespace, rounds):
    """Adds one so many times to the number at /n, however often that takes, and returns how many."""
    app = firebase_admin.initialize_app(
        options={"databaseURL": f"https://{namespace}.firebaseio.com"}, name=uuid.uuid4().hex
    )
    done = 0
    while done < rounds:
        try:
            db.reference("n", app=app).transaction(lambda value: (value or 0) + 1)
            done += 1
        except db.TransactionAbortedError:
            pass
    return done


class StreamTests(DatabaseTest):
    """listen()."""

    def listen(self, reference):
        """The events of a place, and a way to stop; the client stops at the next event only."""
        events = queue.Queue()
        registration = reference.listen(
            lambda event: events.put((event.event_type, event.path, event.data))
        )

        def stop():
            closer = threading.Thread(target=registration.close)
            closer.start()
            while closer.is_alive():
                reference.child("stop").push(1)
                closer.join(0.1)

        return events, stop

    def test_the_value_comes_first_then_every_change(self):
        self.root.set({"a": 1})
        events, stop = self.listen(self.root)
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/", {"a": 1}))
        self.root.child("b/c").set([1, 2])
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/b/c", [1, 2]))
        self.root.child("a").delete()
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/a", None))
        self.root.update({"b/c": None, "x": 3})
        kind, path, data = events.get(timeout=PATIENCE)
        self.assertEqual((kind, path), ("patch", "/"))
        self.assertEqual(data["x"], 3)
        stop()

    def test_who_is_acted_for_hears_what_the_rules_let_it_read(self):
        self.load(RulesTests.RULES)
        ann = self.acting_as({"uid": "ann"}).child("users/ann")
        events, stop = self.listen(ann)
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/", None))
        ann.child("note").set("mine")
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/note", "mine"))
        self.root.child("users/ann/note").set("an administrator's")
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/note", "an administrator's"))
        with self.denied():
            self.acting_as(None).child("users/ann").listen(lambda event: None)
        stop()

    def test_an_empty_place_begins_with_none(self):
        events, stop = self.listen(self.root)
        self.assertEqual(events.get(timeout=PATIENCE), ("put", "/", None))
        stop()

    def test_after_its_end_nothing_comes(self):
        events, stop = self.listen(self.root)
        events.get(timeout=PATIENCE)
        stop()
        while not events.empty():
            events.get()
        self.root.child("late").set(1)
        self.assertTrue(events.empty())

    def test_a_sign_of_life_lets_a_listener_of_a_quiet_place_end(self):
        events = queue.Queue()
        registration = self.root.listen(lambda event: events.put(event.event_type))
        self.assertEqual(events.get(timeout=PATIENCE), "put")
        closer = threading.Thread(target=registration.close, daemon=True)
        closer.start()
        closer.join(PATIENCE)
        self.assertFalse(closer.is_alive())
        self.assertTrue(events.empty())

    def test_signs_of_life_come_as_events(self):
        answer = requests.get(
            f"http://{HOST}/.json",
            params={"ns": self.namespace},
            headers={"Accept": "text/event-stream"},
            stream=True,
            timeout=PATIENCE,
        )
        lines = answer.iter_lines(decode_unicode=True)
        seen = [next(lines) for _ in range(6)]
        answer.close()
        self.assertEqual(seen[:2], ["event: put", 'data: {"path":"/","data":null}'])
        self.assertEqual(seen[3:5], ["event: keep-alive", "data: null"])

    def test_all_listeners_see_all_writes_in_one_order(self):
        streams = [self.listen(self.reference()) for _ in range(3)]
        for events, _ in streams:
            events.get(timeout=PATIENCE)

        def write(number):
            for step in range(10):
                self.reference("n").set(10 * number + step)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(PATIENCE)
        seen = [[events.get(timeout=PATIENCE) for _ in range(30)] for events, _ in streams]
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        self.assertEqual(sorted(data for _, _, data in seen[0]), list(range(30)))
        for _, stop in streams:
            stop()


class RulesTests(DatabaseTest):
    """Administrators, others, and what rules make of them."""

    RULES = {
        "rules": {
            "public": {".read": True},
            "users": {
                "$uid": {
                    ".read": "auth != null",
                    ".write": "auth != null && auth.uid == $uid",
                    "name": {".validate": "newData.isString() && newData.val().length < 5"},
                }
            },
            "admins": {".write": "auth.token.admin == true", ".read": "auth.token.admin == true"},
        }
    }

    def test_everything_is_open_until_rules_are_loaded(self):
        self.acting_as(None).child("a").set(1)
        self.assertEqual(self.acting_as({"uid": "u"}).child("a").get(), 1)

    def test_an_administrator_passes_by_the_rules(self):
        self.load(self.RULES)
        self.root.child("anything").set(1)
        self.assertEqual(self.root.get(), {"anything": 1})

    def test_an_override_is_subject_to_them(self):
        self.load(self.RULES)
        ann = self.acting_as({"uid": "ann"})
        ann.child("users/ann/name").set("Ann")
        self.assertEqual(ann.child("users/ann").get(), {"name": "Ann"})
        self.assertEqual(self.acting_as({"uid": "bob"}).child("users/ann/name").get(), "Ann")
        with self.denied():
            ann.child("users/bob/name").set("Bob")
        with self.denied():
            ann.child("users/ann/name").set("too long")
        with self.denied():
            ann.get()

    def test_nobody_is_nobody(self):
        self.load(self.RULES)
        self.root.child("public").set("hello")
        nobody = self.acting_as(None)
        self.assertEqual(nobody.child("public").get(), "hello")
        with self.denied():
            nobody.child("public").set("bye")
        with self.denied():
            nobody.child("users/ann").get()

    def test_claims_reach_the_rules(self):
        self.load(self.RULES)
        self.acting_as({"uid": "u", "token": {"admin": True}}).child("admins/x").set(1)
        with self.denied():
            self.acting_as({"uid": "u", "token": {"admin": False}}).child("admins/x").set(2)

    def test_an_update_of_which_a_part_is_denied_changes_nothing(self):
        self.load(self.RULES)
        with self.denied():
            self.acting_as({"uid": "ann"}).update({"users/ann/name": "Ann", "users/bob/name": "Bob"})
        self.assertIsNone(self.root.get())

    def test_a_transaction_is_subject_to_them(self):
        self.load(self.RULES)
        ann = self.acting_as({"uid": "ann"})
        self.assertEqual(ann.child("users/ann/n").transaction(lambda value: (value or 0) + 1), 1)
        with self.denied():
            ann.child("users/bob/n").transaction(lambda value: (value or 0) + 1)

    def test_a_stream_is_subject_to_them(self):
        self.load(self.RULES)
        url = f"http://{HOST}/users/ann.json"
        answer = requests.get(
            url,
            params={"ns": self.namespace, "auth_variable_override": "null"},
            headers={"Authorization": "Bearer owner", "Accept": "text/event-stream"},
            timeout=PATIENCE,
        )
        self.assertEqual(answer.status_code, 401)
        self.assertRegex(answer.json()["error"], "^Permission denied")

    def test_rules_come_back_as_they_were_loaded(self):
        text = '// who may read\n{ "rules": { ".read": true, ".write": false } }\n'
        self.load(text)
        answer = requests.get(
            f"http://{HOST}/.settings/rules.json",
            params={"ns": self.namespace},
            headers={"Authorization": "Bearer owner"},
            timeout=PATIENCE,
        )
        self.assertEqual((answer.status_code, answer.text), (200, text))

    def test_rules_with_a_mistake_are_refused_and_the_old_ones_stay(self):
        self.load(self.RULES)
        answer = self.put_rules('{\n "rules": {\n  ".read": "auth ="\n }\n}')
        self.assertEqual(answer.status_code, 400)
        self.assertRegex(answer.json()["error"], "^Line 3:")
        with self.denied():
            self.acting_as(None).get()

    def test_a_dry_run_changes_nothing(self):
        answer = self.put_rules(self.RULES, dryRun="true")
        self.assertEqual((answer.status_code, answer.json()), (200, {"status": "ok"}))
        self.acting_as(None).child("a").set(1)

    def test_only_an_administrator_loads_rules(self):
        self.load(self.RULES)
        self.assertEqual(self.put_rules(self.RULES, token=None).status_code, 401)
        answer = self.put_rules(self.RULES, auth_variable_override='{"uid":"u"}')
        self.assertEqual(answer.status_code, 401)


if __name__ == "__main__":
    unittest.main()
