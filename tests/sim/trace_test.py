#!/usr/bin/env python3
"""trace_test.py STEPCAST: timelines of synchronous and asynchronous steps have one layout."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

STEPCAST = sys.argv[1]
STUDY = {"name": "t", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps", "latency": "25us"}}}
SERVERS = {"kind": "parameter-server", "shards": 2, "server_reduction_cost": "0.1ns/B"}


class Trace:
    def __init__(self, scenario, *options, says=""):
        with tempfile.TemporaryDirectory() as folder:
            file, out = pathlib.Path(folder, "s.json"), pathlib.Path(folder, "t.json")
            file.write_text(json.dumps(scenario))
            done = subprocess.run([STEPCAST, "trace", str(file), "-o", str(out), *options], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert says in done.stderr, done.stderr
            self.events = json.loads(out.read_text())

    def of(self, phase):
        return [event for event in self.events if event["ph"] == phase]

    def names(self, what):
        return {(event["pid"], event["tid"]): event["args"]["name"] for event in self.events if event["name"] == what}


def scenario(strategy, **cluster):
    return {**STUDY, "strategy": strategy, "cluster": {**STUDY["cluster"], **cluster}}


TRACES = {
    "all-reduce": Trace(scenario({"kind": "all-reduce", "exchange": {"grouping": "whole-model"}}), "--fidelity", "full"),
    "pipelined": Trace(scenario({"kind": "pipelined", "width": 2})),
    "servers": Trace(scenario(SERVERS), "--fidelity", "full"),
    "asynchronous": Trace(scenario({**SERVERS, "consistency": "asynchronous"}), "--fidelity", "full"),
}


class Layout(unittest.TestCase):
    def each(self):
        for name, trace in TRACES.items():
            with self.subTest(name):
                yield trace

    def test_events_are_in_order_of_time(self):
        for trace in self.each():
            times = [event["ts"] for event in trace.events if "ts" in event]
            self.assertEqual(times, sorted(times))
            self.assertGreater(len(times), 20)

    def test_slices_take_time_and_threads_do_one_thing_at_a_time(self):
        for trace in self.each():
            threads = {}
            for event in trace.of("X"):
                self.assertGreater(event["dur"], 0)
                threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
            for slices in threads.values():
                for (_, end), (begin, _) in zip(slices, slices[1:]):
                    self.assertLessEqual(end, begin + 1e-6)

    def test_processes_are_workers_by_rank_and_then_shards(self):
        for name, expected in (("all-reduce", 4), ("servers", 4), ("asynchronous", 4)):
            names = TRACES[name].names("process_name")
            order = [names[key] for key in sorted(names)]
            shards = [] if name == "all-reduce" else ["shard 0", "shard 1"]
            self.assertEqual(order, [f"worker {i}" for i in range(expected)] + shards + ["links"])

    def test_streams_have_one_number_in_all_processes_of_a_role(self):
        for trace in self.each():
            roles = {pid: text.split()[0] for (pid, _), text in trace.names("process_name").items()}
            numbers = {}
            for (pid, tid), text in trace.names("thread_name").items():
                numbers.setdefault((roles[pid], text), set()).add(tid)
            self.assertTrue(all(len(tids) == 1 for tids in numbers.values()), numbers)

    def test_arrows_lead_from_a_message_to_what_waited_for_it(self):
        for trace in self.each():
            begins, ends = ({event["id"]: event for event in trace.of(phase)} for phase in "sf")
            self.assertEqual(set(begins), set(ends))
            self.assertTrue(begins)
            slices = {(event["pid"], event["tid"], event["ts"]) for event in trace.of("X")}
            for number, begin in begins.items():
                end = ends[number]
                self.assertNotEqual((begin["pid"], begin["tid"]), (end["pid"], end["tid"]))
                self.assertIn((end["pid"], end["tid"], end["ts"]), slices)
                self.assertLess(abs(end["ts"] - begin["ts"]), 1e-3)

    def test_counters_are_payload_over_time_and_end_at_none(self):
        trace = TRACES["all-reduce"]
        exchange = next(event for event in trace.of("X") if event["cat"] == "exchange")
        counts = [event for event in trace.of("C") if event["pid"] == exchange["pid"]]
        # ResNet-50 has 102,228,128 B of gradients (the README's message), all in one message.
        self.assertAlmostEqual(counts[0]["args"]["GB/s"], 102228128 / exchange["dur"] / 1e3, places=6)
        for trace in self.each():
            last = {event["pid"]: event["args"]["GB/s"] for event in trace.of("C") if "GB/s" in event["args"]}
            self.assertTrue(last)
            self.assertEqual(set(last.values()), {0})

    def test_links_carry_the_bytes_of_a_ring(self):
        trace = TRACES["all-reduce"]
        links = next(pid for (pid, _), name in trace.names("process_name").items() if name == "links")
        counts = {}
        for event in trace.of("C"):
            if event["pid"] == links:
                counts.setdefault(event["name"], []).append((event["ts"], event["args"]["%"]))
        # Four workers on a star: a cable each, up and down. Auto takes the ring here.
        self.assertEqual(len(counts), 8, sorted(counts))
        steps = len({event["ts"] for event in trace.of("X") if event["cat"] == "exchange"})
        for uses in counts.values():
            self.assertLessEqual(max(share for _, share in uses), 100 + 1e-6)
            self.assertEqual(uses[-1][1], 0)
            moved = sum(share / 100 * (end - start) for (start, share), (end, _) in zip(uses, uses[1:])) * 1e-6 * 1.25e9
            # Each sends and gets 2 (p-1)/p n bytes: 3/2 of ResNet-50's 102,228,128 B, every step.
            self.assertAlmostEqual(moved / (steps * 1.5 * 102228128), 1, places=6)

    def test_a_folded_trace_has_no_links(self):
        self.assertNotIn("links", TRACES["pipelined"].names("process_name").values())

    def test_some_workers_alone(self):
        some = Trace(scenario(SERVERS), "--workers", "0,3", "--fidelity", "full")
        names = some.names("process_name")
        self.assertEqual([names[key] for key in sorted(names)], ["worker 0", "worker 3", "shard 0", "shard 1", "links"])
        Trace(scenario({"kind": "all-reduce"}), "--workers", "2", "--fidelity", "folded", says="--fidelity full traces each")
        self.assertEqual(subprocess.run([STEPCAST, "trace", "quickstart", "--workers", "70", "--point", "workers=4", "--point", "workload=vgg16-v100",
                                         "--point", "bandwidth=10Gbps", "--point", "variant=pipelined, K = 2", "-o", "none.json"],
                                        capture_output=True, text=True).returncode, 2)
        self.assertFalse(pathlib.Path("none.json").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
