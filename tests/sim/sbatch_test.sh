#!/usr/bin/env bash
# sbatch_test.sh PROGRAM SCENARIOS: the shipped sbatch example on a Slurm of this machine alone, started for the test.
# Exits 77 (skipped) where Slurm's daemons are not installed or may not be started.
set -uo pipefail
program=$1 scenarios=$2
PATH=$PATH:/usr/sbin
for needed in munged slurmctld slurmd sbatch squeue; do
  command -v $needed >/dev/null || { echo "skipped: no $needed (Debian: slurmctld slurmd slurm-client munge)"; exit 77; }
done
((EUID == 0)) || { echo 'skipped: slurmd runs jobs as root only'; exit 77; }

work=$(mktemp -d)
stop() {
  local daemon
  for daemon in slurmd slurmctld munged; do
    [[ ! -s $work/$daemon.pid ]] || kill "$(<"$work/$daemon.pid")" 2>/dev/null
  done
  sleep 1
  rm -rf "$work"
}
trap stop EXIT
cd "$work" || exit 1
mkdir state spool
host=$(hostname) port=$((20000 + $$ % 20000))
cat >slurm.conf <<EOF
ClusterName=stepcast-test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmdSpoolDir=$work/spool
StateSaveLocation=$work/state
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$work/slurm.conf
(umask 077 && head -c 1024 /dev/urandom >munge.key)
munged --force --socket="$work/munge.socket" --key-file="$work/munge.key" --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed" 2>munged.err &&
  slurmctld -c && slurmd || { echo 'skipped: the daemons do not start here'; cat munged.err ./*.log; exit 77; }
for ((tries = 0; tries < 60; ++tries)); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.5
done

fail() {
  printf 'FAILED: %s\n' "$1"
  tail -n 20 -- *.log
  exit 1
}
cat >study.json <<'EOF'
{"name": "study", "workload": "resnet50-v100", "cluster": {"workers": [2, 4, 8], "link": {"bandwidth": ["10Gbps", "25Gbps"], "latency": "25us"}},
  "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}}, "evaluation": {"evaluator": ["equations", "replay"]}}
EOF
"$program" sweep study.json --no-cache --csv whole.csv 2>/dev/null || fail 'the sweep without Slurm'
STEPCAST=$program sbatch --wait --array=0-3 --cpus-per-task=1 "$scenarios/jobs/sweep.sbatch" study.json >/dev/null || fail 'sbatch'
"$program" merge study.shard-*-of-4.jsonl --csv merged.csv || fail 'merge'
cmp whole.csv merged.csv || fail 'the array does not write what one sweep writes'
# Submitted again, nothing is computed again.
STEPCAST=$program sbatch --wait --array=0-3 --cpus-per-task=1 "$scenarios/jobs/sweep.sbatch" study.json >/dev/null || fail 'sbatch again'
grep -h 'replays:' -- *-[0-3].log | sort | uniq -c
[[ $(grep -lE ' 0 computed' -- *-[0-3].log | wc -l) -ge 4 ]] || fail 'computed again what was in the caches'
echo 'all as it should be'
