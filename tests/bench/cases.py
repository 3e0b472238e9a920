"""What bench.py replays: scenarios, the sizes that have a limit, and a size at which full replay is quick.

Limits are seconds of CPU of the whole command, from issue 27 ("part n" below).
"""
from dataclasses import dataclass

MIB = 2**20
BYTES = 100 * MIB  # what collectives exchange
LINK = {"bandwidth": "100Gbps", "latency": "5us"}
MILLION = 1048576

STAR = {"kind": "star"}
MACHINES = {"kind": "nodes", "gpus_per_node": 8, "nics": 8, "inner": {"bandwidth": "300GB/s", "latency": "1us"}}
# n and m of fabrics with n * n * m hosts.
SIDES = {64: (4, 4), 512: (8, 8), 4096: (16, 16), 65536: (32, 64), MILLION: (64, 256)}


def nothing(p):
    return {}


def star(p):
    return STAR


def machines(p):
    return MACHINES


def fat_tree(p):
    n, m = SIDES[p]
    return {"kind": "fat-tree", "down": [n, n, m], "up": [1, n // 2, n // 2], "parallel": [1, 1, 1]}


def torus(p):
    n, m = SIDES[p]
    return {"kind": "torus", "dimensions": [n, n, m]}


def dragonfly(p):
    n, m = SIDES[p]
    return {"kind": "dragonfly", "groups": n, "chassis": m // n, "routers": n, "hosts": n}


TOPOLOGIES = {"star": star, "machines": machines, "fat tree": fat_tree, "torus": torus, "dragonfly": dragonfly}


def collective(algorithm):
    return {"kind": "collective", "size": "100MiB", "collective": {"algorithm": algorithm}}


def servers(shards, **choices):
    return {"kind": "parameter-server", "shards": shards, **choices}


ALL_TO_ALL = {"kind": "collective", "operation": "all-to-all", "size": "100MiB"}
BUCKETED = {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "bucketed"}}
ASYNCHRONOUS = servers(16, consistency="asynchronous")
JITTER = {"jitter": {"distribution": "lognormal", "cv": 0.1}}


def sixteen_groups(p):
    """Groups whose computing and links are slower by 1 % each. The first one has the cluster's own."""
    slower = range(1, 16)
    return {**JITTER, "groups": [{"count": p // 16, "speed": (100 - i) / 100, "bandwidth": f"{100 - i}Gbps"} for i in slower]}


@dataclass
class Case:
    name: str
    strategy: dict
    topology: object = star       # function of the workers
    cluster: object = nothing     # more fields of the cluster; function of the workers
    steps: int = 0                # 0: the scenario's default
    sizes: tuple = ()             # workers of folded replays without a limit
    limits: tuple = ()            # (workers, seconds of CPU)
    part: int = 0                 # of issue 27, which has the limits
    beside: int = 0               # workers at which full replay takes some seconds, and is run as well
    slow: tuple = ()              # workers that --quick leaves out
    line: str = ""                # in the picture

    def scenario(self, workers):
        return scenario(workers, self.strategy, self.topology(workers), self.steps, **self.cluster(workers))


def scenario(workers, strategy, topology=STAR, steps=0, **cluster):
    """A study of one point, which is replayed."""
    return {"name": "bench", "workload": "resnet50-v100", "strategy": strategy,
            "cluster": {"workers": workers, "link": LINK, "topology": topology, **cluster},
            "evaluation": {"evaluator": "replay", **({"max_steps": steps} if steps else {})}}


def jittered(p):
    return JITTER


JITTERED = [
    Case("jitter, 200 steps, bucketed ring, star", BUCKETED, cluster=jittered, steps=200, limits=((1024, 1),), part=1, beside=16),
    Case("jitter, 50 steps, bucketed ring, star", BUCKETED, cluster=jittered, steps=50, limits=((65536, 10),), part=1,
         beside=64, sizes=(256, 1024, 4096), line="jittered, 50 steps"),
    Case("jitter, 200 steps, 16 groups, star", BUCKETED, cluster=sixteen_groups, steps=200, limits=((4096, 2),), part=1, beside=16),
    Case("16 asynchronous servers, 20 steps, star", ASYNCHRONOUS, cluster=jittered, steps=20, limits=((256, 5), (1024, 60)), part=2,
         beside=128, sizes=(64, 4096), slow=(4096,), line="asynchronous, 20 steps"),
]

# Folded replays that have a limit, by algorithm and topology: (workers, seconds). A million workers have five seconds and
# 1 GiB, or the limits that docs/many-points.md says.
SAID, SAID_MIB = 40, 1100
FOLDING_LIMITS = {
    ("nccl-tree", "machines"): ((16384, 2),),
    ("double-binary-tree", "fat tree"): ((4096, 0.3),),
    ("halving-doubling", "fat tree"): ((65536, 1), (MILLION, SAID)),
    ("halving-doubling", "torus"): ((65536, 1), (MILLION, SAID)),
    ("halving-doubling", "dragonfly"): ((65536, 1), (MILLION, SAID)),
    ("halving-doubling", "star"): ((MILLION, 5),),
    ("halving-doubling", "machines"): ((MILLION, SAID),),
    ("double-binary-tree", "star"): ((MILLION, SAID),),
    **{("ring", topology): ((MILLION, 5),) for topology in TOPOLOGIES},
}
# Workers at which full replay takes some seconds, where 512 are too many or too few. bench.py's peers have the ring on a star.
FULL_AT = {
    ("ring", "star"): 0,
    ("nccl-tree", "machines"): 64,
    **{("halving-doubling", topology): 4096 for topology in ("star", "fat tree", "torus", "dragonfly")},
}


def collectives():
    """All with a limit, and other algorithms on three topologies: is folding exact there?"""
    others = [(a, t) for a in ("recursive-doubling", "double-binary-tree", "binary-tree", "reduce-broadcast") for t in ("star", "fat tree", "torus")]
    for algorithm, topology in dict.fromkeys([*FOLDING_LIMITS, *others]):
        pair = (algorithm, topology)
        plotted = pair == ("ring", "star")
        yield Case(f"{algorithm}, {topology}", collective(algorithm), TOPOLOGIES[topology], limits=FOLDING_LIMITS.get(pair, ()), part=4,
                   sizes=(4096, 65536) if plotted else (), line="folded" if plotted else "", beside=FULL_AT.get(pair, 512),
                   slow=(MILLION,) if (MILLION, SAID) in FOLDING_LIMITS.get(pair, ()) else ())


FOLDED = [
    *collectives(),
    Case("all-to-all, star", ALL_TO_ALL, limits=((4096, 0.3),), part=4, beside=512),
    Case("ResNet-50 step, star", {"kind": "all-reduce", "exchange": {"grouping": "bucketed"}}, beside=512),
    Case("gossip, torus", {"kind": "gossip"}, topology=torus, limits=((MILLION, SAID),), part=4, beside=512, slow=(MILLION,)),
    Case("4 servers, bucketed, star", servers(4, exchange={"grouping": "bucketed"}), beside=256),
]


def study(topology, workers, bandwidths, latencies, strategy, evaluator="equations"):
    cluster = {"workers": workers, "link": {"bandwidth": bandwidths, "latency": latencies}, "topology": topology}
    return {"name": "points", "workload": "resnet50-v100", "cluster": cluster, "strategy": strategy, "evaluation": {"evaluator": evaluator}}


def last_point(study):
    """The point with the last value of each list."""
    cluster = study["cluster"]
    link = {key: values[-1] for key, values in cluster["link"].items()}
    return {**study, "cluster": {**cluster, "workers": cluster["workers"][-1], "link": link}, "evaluation": {}}


def sweeps():
    """Studies of many points: name, study, points, limit in seconds of CPU, its source, and words of each command."""
    sweep, run = ("sweep", "--jobs", "1", "--csv", "points.csv"), ("run", "--jobs", "1")
    bandwidths, latencies = [f"{i}Gbps" for i in range(1, 51)], [f"{i}us" for i in range(1, 21)]
    racks = {"kind": "racks", "hosts_per_rack": 16, "oversubscription": 2}
    tree = {"kind": "fat-tree", "down": [16, 16], "up": [1, 8], "parallel": [1, 1]}
    source = "issue 27, part 5: 2,000 points a second and core"
    for name, topology in (("racks", racks), ("machines", MACHINES), ("fat tree", tree)):
        yield f"points, {name}", study(topology, list(range(16, 161, 16)), bandwidths, latencies, BUCKETED), 10000, 5, source, (sweep, run)
    whole = {**BUCKETED, "exchange": {"grouping": "whole-model"}}
    source = "issue Scale: 20,000 points a second and core"
    yield "points, star", study(STAR, list(range(4, 201, 4)), bandwidths, latencies, whole), 50000, 2.5, source, (sweep,)
    both = {**BUCKETED, "exchange": {"grouping": ["whole-model", "bucketed"]}}
    few = study(STAR, [2, 4, 8, 16, 32, 64], ["10Gbps", "25Gbps", "100Gbps"], ["5us", "25us"], both, "replay")
    parallel = ("sweep", "--jobs", "2", "--no-cache", "--csv", "points.csv")
    yield "replays, star", few, 72, 3.6, "issue Scale: 40 points a second on two cores", (parallel,)
