"""pages_test.py STEPCAST CALIBRATE PROJECT [PAGE...]: tests the commands and links of the pages (*.md).

Commands of README.md, CONTRIBUTING.md, docs/, scenarios/README.md and calibrate/README.md:
  ```json NAME     (or xml) a file of that name, written into the page's own temporary folder; the text names it, too
  ```console       "$ " begins a command for bash, which runs in that folder. Each line below it is a part of a line that
                   it prints, in that order. Spaces between words may differ, and "..." stands for anything
  `stepcast run x` in the text is run as well, unless a word in capitals (STUDY) makes it a pattern
  <!-- not run: REASON -->  on the line before a block: it cannot be run here; REASON is one of NOT_RUN
  <!-- exit code N -->      likewise: its last command ends with that code
Other blocks, also indented ones, hold no commands.
Relative links of all pages lead to a file, and with an anchor to a heading in it. docs/README.md and
docs/decisions/README.md name each page beside them.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_RUN = {"installs and builds", "needs a GPU", "needs PyTorch", "needs mpirun", "needs Slurm", "needs a cluster", "runs this test"}
NO_PAGE = {"build", ".git", "node_modules"}
SECONDS = 280  # for one command, with sanitizers too; ctest stops a test after 300


def nccl_tests(hosts, each):
    """As nccl-tests prints rings of machines whose links have two protocols."""
    ranks = hosts * each
    lines = ["# Collective test starting: all_reduce_perf"]
    lines += [
        f"#  Rank {rank:2} Group  0 Pid {4711 + rank} on    host{rank // each} device {rank % each} [0000:01:00] made up"
        for rank in range(ranks)
    ]
    lines += ["# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"]
    rounds, bandwidth = 2 * (ranks - 1), 200e9 if hosts == 1 else 12.5e9
    latency = 1e-6 + (0 if hosts == 1 else 5e-6 / each)  # the mean over a ring's hops, one of which leaves each machine
    for size in (1024 * 2**k for k in range(21)):
        sent = rounds / ranks * size / bandwidth
        us = 1e6 * min(rounds * latency + sent / 0.4, rounds * 4 * latency + sent)
        lines.append(f"{size} {size // 4} float sum -1 {us:.3f} 0 0 0 {us:.3f} 0 0 0")
    return "\n".join([*lines, "# Avg bus bandwidth    : 0 ", ""])


def prepare(folder, tools, project):
    """A reader's files for any page: the project's programs and files, a network, a trace and two measurements."""
    for name in ("scenarios", "notebooks", "calibrate"):
        (folder / name).symlink_to(project / name)
    (folder / "stepcast").symlink_to(tools / "stepcast")
    for name in ("workloads", "clusters"):
        (folder / name).mkdir()
    unet = (project / "scenarios/workloads/unet-tiny.json").read_text(encoding="utf-8")
    (folder / "workloads/my-net.json").write_text(unet, encoding="utf-8")
    trace = (project / "tests/data/traces/torch-2.15-cpu.json").read_text(encoding="utf-8")
    (folder / "trace.json").write_text(trace, encoding="utf-8")
    (folder / "one.txt").write_text(nccl_tests(hosts=1, each=4), encoding="utf-8")
    (folder / "four.txt").write_text(nccl_tests(hosts=4, each=4), encoding="utf-8")


def fenced(text):
    """Blocks in order: (words behind the fence, comment before it, content, text before it)."""
    for match in re.finditer(r"^(?: *<!-- ([^\n]*?) -->\n)?^( *)```([^\n]*)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
        comment, indent, words, content = match.groups()
        yield words.split(), comment or "", re.sub(f"^{indent}", "", content, flags=re.MULTILINE), text[:match.start()]


def without_fences(text):
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def commands(block):
    """Pairs of a command and the lines shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.rstrip().split("\n")
        command = [lines.pop(0)]
        while command[-1].endswith("\\"):
            command.append(lines.pop(0))
        yield "\n".join(command), [line for line in lines if line.strip()]


def pattern(line):
    """Whole words, with any spaces between them; "..." is anything, and a comma may follow."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split("...")]
    return re.compile(".*".join(rf"(?<!\S){part}(?![^\s,;:.]|[.]\S)" for part in parts if part) or ".")


def not_printed(shown, printed):
    """The lines shown that no line printed holds, from where the one before was found."""
    lines, at = printed.split("\n"), 0
    for line in shown:
        expected = pattern(line.strip())
        found = next((i for i in range(at, len(lines)) if expected.search(lines[i])), None)
        if found is None:
            yield line
        else:
            at = found


class Run:
    """The commands of one page, one after the other."""

    def __init__(self, page, folder, environment):
        self.page, self.folder, self.environment = page, folder, environment
        self.count, self.skipped, self.faults = 0, [], []

    def fault(self, text):
        self.faults.append(f"{self.page}: {text}")

    def command(self, command, shown, code):
        self.count += 1
        done = subprocess.run(["bash", "-euc", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=SECONDS, stdin=subprocess.DEVNULL)
        if done.returncode != code:
            self.fault(f"$ {command}\nends with {done.returncode}, not {code}:\n{done.stderr}")
            return
        printed = done.stdout + done.stderr
        for line in not_printed(shown, printed):
            self.fault(f"$ {command}\ndoes not print: {line}\nbut:\n{printed}")

    def block(self, words, comment, content, before):
        language = words[0] if words else ""
        if language in ("json", "xml") and len(words) == 2:
            if f"`{words[1]}`" not in before:
                self.fault(f"the text before the file {words[1]} does not name it")
            (self.folder / words[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / words[1]).write_text(content, encoding="utf-8")
        elif language == "console" and comment.startswith("not run: "):
            reason = comment.removeprefix("not run: ")
            if reason not in NOT_RUN:
                self.fault(f"{reason!r} is no reason to leave out a command")
            self.skipped += [(self.page, reason, command) for command, _ in commands(content)]
        elif language == "console":
            several, code = list(commands(content)), re.fullmatch(r"exit code (\d+)", comment)
            for i, (command, shown) in enumerate(several):
                self.command(command, shown, int(code[1]) if code and i == len(several) - 1 else 0)
        elif re.search(r"^(\$ |(\./)?stepcast)", content, re.MULTILINE) and language != "python":
            self.fault(f"commands in a block that is not console:\n{content}")

    def all(self, text):
        for match in re.finditer(r"^(?: {4}|\t)(?:\$ |(?:\./)?stepcast)[^\n]*", without_fences(text), re.MULTILINE):
            self.fault(f"a command in an indented block: {match[0].strip()}")
        for words, comment, content, before in fenced(text):
            self.block(words, comment, content, before)
        for span in re.findall(r"`([^`]+)`", without_fences(text)):
            command = " ".join(span.split())
            if re.match(r"((\./)?stepcast(-calibrate)? [a-z]+|(notebooks|scenarios|calibrate)/\S+\.(py|sh)) ", command) and not re.search(r"(^|\W)[A-Z]{2,}(?![\w])", command):
                self.command(command, [], 0)


def run_page(page, tools, project):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prepare(folder, tools, project)
        environment = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin:{os.environ['PATH']}", "STEPCAST_SCENARIOS": str(project / "scenarios"),
                       "XDG_CACHE_HOME": str(folder / ".cache"), "COLUMNS": "1000"}
        run = Run(page, folder, environment)
        run.all((project / page).read_text(encoding="utf-8"))
        return run


def slugs(text):
    """The anchors of a page's headings, as GitHub makes them."""
    seen = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", without_fences(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        yield slug if seen[slug] == 0 else f"{slug}-{seen[slug]}"


def broken_links(page, project):
    text = re.sub(r"(`+)(?:(?!\1).)*\1", "", without_fences((project / page).read_text(encoding="utf-8")), flags=re.DOTALL)
    for target in re.findall(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)", text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (project / page).parent / name if name else project / page
        if not file.exists():
            yield f"{page}: no file {target}"
        elif anchor and (file.suffix != ".md" or anchor not in slugs(file.read_text(encoding="utf-8"))):
            yield f"{page}: no heading {target}"


def main(stepcast, calibrate, project, *chosen):
    project = pathlib.Path(project).resolve()
    all_pages = sorted(str(file.relative_to(project)) for file in project.rglob("*.md") if not NO_PAGE & set(file.relative_to(project).parts))
    faults = [fault for page in all_pages for fault in broken_links(page, project)]
    for folder in (project / "docs", project / "docs/decisions"):
        index = (folder / "README.md").read_text(encoding="utf-8")
        faults += [f"{folder.name}/README.md does not name {file.name}" for file in folder.glob("*.md") if f"({file.name})" not in index and file.name != "README.md"]
    with_commands = [page for page in all_pages if re.fullmatch(r"(docs/|scenarios/|calibrate/)?[^/]*\.md", page) and page not in ("CHANGELOG.md", "docs/fields.md")]
    with tempfile.TemporaryDirectory() as tools, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, program in (("stepcast", stepcast), ("stepcast-calibrate", calibrate)):
            (pathlib.Path(tools) / name).symlink_to(pathlib.Path(program).resolve())
        runs = list(pool.map(lambda page: run_page(page, pathlib.Path(tools), project), [page for page in with_commands if page in chosen or not chosen]))
    for run in runs:
        faults += run.faults
        print(f"{run.page}: {run.count} commands")
        for _, reason, command in run.skipped:
            print(f"  not run ({reason}): {command}")
    if not chosen and sum(run.count for run in runs) < 60:
        faults.append("fewer than 60 commands were found")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
