#!/usr/bin/env python3
"""The compressors of calibrate/torch_compressors.py do what their definitions say, on the CPU. Skipped without torch."""
import math
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

try:
    import torch
except ImportError:
    print("no torch: skipped")
    sys.exit(77)

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "calibrate"))
import torch_compressors as peers

SIZES = (1, 7, 100, 512, 4099, 65537)
EPSILON = 2.0**-24  # fp32, to nearest
TRIALS, SIGMAS = 1000, 5


def state_of(name, x):
    state = SimpleNamespace(n=x.numel())
    peers.METHODS[name].start(x, state)
    return state


def round_trip(name, x):
    """(decoded, message, state)"""
    state = state_of(name, x)
    message = peers.METHODS[name].encode(x, state)
    return peers.METHODS[name].decode(message, state), message, state


def normal(n, seed=1):
    torch.manual_seed(seed)
    return torch.randn(n)


class RoundTrips(unittest.TestCase):
    def within(self, expected, got, allowed):
        deviation = (got.double() - expected.double()).abs()
        for i in (~(deviation <= allowed)).nonzero().flatten()[:1].tolist():
            self.fail(f"[{i}]: expected {expected[i]}, got {got[i]}, off by {deviation[i]}")

    def assert_unbiased(self, name, expected, x, deviation, independent=True):
        """Means of TRIALS round trips are within 5 sigma of `expected`, one by one, and where elements are independent of
        each other their magnitudes together.

        deviation  the standard deviation of one trial, or more
        """
        trials = torch.stack([round_trip(name, x)[0].double() for _ in range(TRIALS)])
        sigma, rounding = deviation.double() / math.sqrt(TRIALS), 8 * EPSILON * float(expected.abs().max())
        self.within(expected, trials.mean(0), SIGMAS * sigma + rounding)
        error = float((expected.sign() * (trials.mean(0) - expected)).sum())
        if independent:
            self.assertLessEqual(abs(error), SIGMAS * float(sigma.norm()) + expected.numel() * rounding)
        self.assertGreater(float(trials.std(0).max()), 0, "nothing was random")

    def test_fp16(self):
        for n in SIZES:
            x = normal(n)
            self.within(x, round_trip("fp16", x)[0], x.abs().double() * 2**-11 + 2**-25)  # 11 bits, to nearest; denormals every 2^-24

    def test_eight_bit(self):
        for n in SIZES:
            x = normal(n)
            decoded = round_trip("8-bit", x)[0]
            # The widest gap between codes is 0.9/64 of the largest, half of it the largest error (kernels/code/quantizers.hpp).
            self.within(x, decoded, float(x.abs().max()) * (0.45 / 64 + 4 * EPSILON))
            self.assertTrue(bool((decoded * x >= 0).all()))
            self.assertEqual(float(decoded.abs().max()), float(x.abs().max()))  # code 127 is 1
        values = state_of("8-bit", normal(1)).values
        self.assertEqual(values.numel(), 256)
        self.assertAlmostEqual(float(values[1]), 1e-6, delta=1e-12)
        self.assertTrue(bool((values[:128].diff() > 0).all()))

    def test_one_bit(self):
        for n in SIZES:
            x = normal(n)
            decoded, (signs, above, below), _ = round_trip("1-bit", x)
            self.assertEqual(signs.numel(), math.ceil(n / 8))
            for mask, mean in ((x >= 0, above), (x < 0, below)):
                want = float(x[mask].double().mean()) if mask.any() else 0.0
                self.assertAlmostEqual(float(mean), want, delta=1e-5)
                self.assertTrue(bool((decoded[mask] == mean).all()))

    def test_signs_are_packed_exactly(self):
        for n in SIZES:
            x = normal(n)
            x[0] = 0
            decoded, message, _ = round_trip("signsgd", x)
            self.assertEqual(message.numel(), math.ceil(n / 8))
            self.assertTrue(torch.equal(decoded, torch.where(x >= 0, 1.0, -1.0)))
        self.assertEqual(peers.sign_encode(torch.tensor([1.0, -1, -1, 1, -1, -1, -1, -1, 1]), None).tolist(), [0b00001001, 1])

    def test_codes_of_two_bits(self):
        codes = torch.tensor([1, 2, 0, 1, 2], dtype=torch.uint8)
        packed = peers.pack(codes, 2)
        self.assertEqual(packed.tolist(), [1 + 4 * 2 + 64 * 1, 2])
        self.assertTrue(torch.equal(peers.unpack(packed, 2, 5), codes))

    def test_error_feedback_of_signs(self):
        for n in SIZES:
            x = normal(n)
            state = state_of("ef-signsgd", x)
            for _ in range(3):
                corrected = x + state.error
                decoded = peers.ef_sign_decode(peers.ef_sign_encode(x, state), state)
                self.assertTrue(torch.equal(decoded.sign(), torch.where(corrected >= 0, 1.0, -1.0)))
                self.within(corrected.abs().mean().expand(n), decoded.abs(), 1e-6)
                self.within(corrected, decoded + state.error, 4 * EPSILON * float(corrected.abs().max()))  # nothing is lost

    def test_qsgd(self):
        for n in SIZES:
            x = normal(n)
            decoded, (codes, norms), _ = round_trip("qsgd", x)
            self.assertEqual(norms.numel(), math.ceil(n / peers.BUCKET))
            step = norms.repeat_interleave(peers.BUCKET)[:n] / peers.LEVELS
            self.within(x, decoded, step * (1 + 1e-5))
        x = normal(700)
        norms = torch.cat([part.norm().expand(part.numel()) for part in x.split(peers.BUCKET)])
        self.assert_unbiased("qsgd", x, x, norms / peers.LEVELS / 2)  # one of two values a step apart: at most half of it
        self.assertTrue(torch.equal(round_trip("qsgd", torch.zeros(9))[0], torch.zeros(9)))

    def test_terngrad(self):
        for n in SIZES[1:]:
            decoded, (packed, scale), _ = round_trip("terngrad", normal(n))
            self.assertEqual(packed.numel(), math.ceil(n / 4))
            self.assertTrue(bool(((decoded == 0) | (decoded.abs() == scale)).all()))
        x = normal(700)
        limit = peers.CLIP * float(x.std(unbiased=False))
        self.assertGreater(int((x.abs() > limit).sum()), 0)
        self.assert_unbiased("terngrad", x.clamp(-limit, limit), x, torch.full_like(x, limit / 2))  # 0 or S = limit

    def test_natural(self):
        for n in SIZES:
            x = normal(n)
            decoded = round_trip("natural", x)[0]
            floor = torch.exp2(x.abs().double().log2().floor())
            self.assertTrue(bool(((decoded.abs() == floor) | (decoded.abs() == 2 * floor)).all()))
            self.assertTrue(bool((decoded * x > 0).all()))
        x = normal(300)
        self.assert_unbiased("natural", x, x, torch.exp2(x.abs().log2().floor()) / 2)  # 2^e or 2^(e+1)
        self.assertEqual(round_trip("natural", torch.tensor([0.0, 1, -4, 2**-120, 2**100]))[0].tolist(), [0, 1, -4, 0, 2**16])

    def test_random_k(self):
        for n in SIZES:
            x = normal(n)
            decoded, message, state = round_trip("random-k", x)
            self.assertEqual(state.indices.unique().numel(), max(1, n // 100))
            self.assertTrue(torch.equal(decoded[state.indices], x[state.indices]))
            self.assertEqual(int((decoded != 0).sum()), message.numel())
        # Each of 200 elements is one of the two sent with p = 1/100. Counts of 10,000 trials are within 5 sqrt(10000 p
        # (1 - p)) = 49.7 of 100.
        counts = sum((round_trip("random-k", torch.ones(200))[0] for _ in range(10000)), torch.zeros(200))
        self.within(torch.full((200,), 100.0), counts, 5 * math.sqrt(10000 * 0.01 * 0.99))

    def test_top_k_keeps_the_largest(self):
        for n in SIZES:
            x = normal(n)
            decoded, (values, indices), _ = round_trip("top-k", x)
            k = max(1, n // 100)
            self.assertEqual(indices.unique().numel(), k)
            kept = decoded != 0
            self.assertTrue(torch.equal(decoded[kept], x[kept]))
            self.assertEqual(int(kept.sum()), k)
            if n > k:
                self.assertGreaterEqual(float(x[kept].abs().min()), float(x[~kept].abs().max()))

    def test_threshold(self):
        for n in SIZES:
            x = normal(n)
            self.assertTrue(torch.equal(round_trip("threshold", x)[0], torch.where(x.abs() > peers.THRESHOLD, x, 0)))
        # 4.24 % of normal numbers: 65,537 of them within 5 sqrt(n p (1 - p)) = 258.
        self.assertLess(abs(int((round_trip("threshold", normal(65537))[0] != 0).sum()) - 0.0424 * 65537), 258)

    def test_dgc(self):
        for n in SIZES:
            x = normal(n)
            state = state_of("dgc", x)
            for _ in range(3):
                u, v = peers.MOMENTUM * state.u + x, state.v.clone()
                decoded = peers.sparse_decode(peers.dgc_encode(x, state), state)
                sent = decoded != 0
                self.assertGreater(int(sent.sum()), 0)
                self.within(v + u, decoded + state.v, 1e-5)  # nothing is lost
                self.assertEqual(float(state.v[sent].abs().sum() + state.u[sent].abs().sum()), 0)
                self.within(u[~sent], state.u[~sent], 1e-6)
                if sent.any() and not sent.all():
                    self.assertGreaterEqual(float((v + u)[sent].abs().min()), float((v + u)[~sent].abs().max()) - 1e-5)

    def test_adaptive(self):
        for n in SIZES:
            x = normal(n)
            decoded, message, _ = round_trip("adaptive", x)
            for sign, indices, mean in ((1, *message[:2]), (-1, *message[2:])):
                mine = sign * x
                if indices.numel() == 0:
                    continue
                chosen = torch.zeros(n, dtype=torch.bool)
                chosen[indices.long()] = True
                self.assertTrue(bool((mine[chosen] > 0).all()))
                if not chosen.all():
                    self.assertGreaterEqual(float(mine[chosen].min()), float(mine[~chosen].max()))  # a threshold
                self.assertAlmostEqual(float(mean), float(x[chosen].double().mean()), delta=1e-5)
                self.assertTrue(bool((decoded[chosen] == mean).all()))
            self.assertEqual(int((decoded != 0).sum()), message[0].numel() + message[2].numel())
        # There are about 32768 either way. The third largest of a sample of 327 is at 3/328 in expectation, beta with
        # deviation 0.0053: below 0.036 within 5 deviations.
        self.assertLess(message[0].numel() + message[2].numel(), 65537 * (3 / 328 + 5 * 0.0053))

    def test_sketch(self):
        for n in SIZES:
            x = normal(n)
            decoded, (codes, means), _ = round_trip("sketchml", x)
            order = x.sort().values
            for code in codes.unique().tolist():
                mine = x[codes == code]
                self.assertAlmostEqual(float(means[code]), float(mine.double().mean()), delta=1e-5)
                # Quantile j holds elements floor(j·n/q) to floor((j+1)·n/q) - 1 in order.
                self.assertTrue(torch.equal(mine.sort().values, order[code * n // 256 : (code + 1) * n // 256]))
            self.assertTrue(torch.equal(decoded, means[codes.long()]))

    def test_three_lc(self):
        for n in SIZES:
            for x in (normal(n), normal(n) ** 9, torch.zeros(n)):
                decoded, (_, scale), _ = round_trip("3lc", x)
                self.within(x, decoded, float(scale) * (0.5 + 4 * EPSILON))
                self.assertTrue(bool(((decoded == 0) | (decoded.abs() == scale)).all()))
        # Runs of 1 to 40 zero bytes, between bytes 7: pieces of at most 14; 1 is 121 itself, 2 to 14 are 243 to 255.
        for length in range(1, 41):
            codes = torch.tensor([7] + [121] * length + [7], dtype=torch.uint8)
            pieces = [14] * (length // 14) + [length % 14] * (length % 14 > 0)
            self.assertEqual(peers.zero_runs(codes).tolist(), [7] + [121 if p == 1 else 241 + p for p in pieces] + [7])
        # Trits 0, 1, -1, 0, 0: (1, 2, 0, 1, 1) in base 3 is 81 + 54 + 0 + 3 + 1 = 139.
        self.assertEqual(round_trip("3lc", torch.tensor([0.0, 1, -1, 0, 0]))[1][0].tolist(), [139])

    def test_power_sgd(self):
        for rows, columns in ((20, 20), (64, 65)):
            torch.manual_seed(1)
            low_rank = (torch.randn(rows, peers.RANK) @ torch.randn(peers.RANK, columns)).flatten()
            self.within(low_rank, round_trip("powersgd", low_rank)[0], 1e-4 * float(low_rank.abs().max()))
        x = normal(64 * 65)
        decoded, (p, q), _ = round_trip("powersgd", x)
        self.within(torch.eye(peers.RANK).flatten(), (p.T @ p).flatten(), 1e-5)
        self.within((p @ (p.T @ x.view(64, 65))).flatten(), decoded, 1e-4)  # the projection on P's columns

    def test_atomo(self):
        torch.manual_seed(1)
        # As large as each other, σ = 1, 1, 1: budget·σ = 3 does not exceed their sum, and p = 3·1/3 = 1.
        basis = torch.linalg.qr(torch.randn(30, 3)).Q @ torch.linalg.qr(torch.randn(30, 3)).Q.T
        self.within(basis.flatten(), round_trip("atomo", basis.flatten())[0], 1e-5)
        # σ = 10, 1, 1, 1, 1. 30 > 14, so the first is sure. Then 2·1 > 4 is false, so p = 2/4 for each of the others.
        u, v = torch.linalg.qr(torch.randn(30, 5)).Q, torch.linalg.qr(torch.randn(30, 5)).Q
        matrix = ((u * torch.tensor([10.0, 1, 1, 1, 1])) @ v.T).flatten()
        counts = []
        for _ in range(200):
            _, sigma, _ = round_trip("atomo", matrix)[1]
            self.within(torch.tensor([10.0] + [2.0] * (sigma.numel() - 1)), sigma.sort(descending=True).values, 1e-4)
            counts.append(sigma.numel() - 1)
        # Mean of 200 binomials of 4 and 1/2: 2, deviation 1/sqrt(200).
        self.assertLess(abs(sum(counts) / 200 - 2), 5 / math.sqrt(200))
        # Each of the four is 0 or 2, deviation 1, so entry (a, b) has the variance of Σ (u_ai v_bi)² over them.
        self.assert_unbiased("atomo", matrix, matrix, ((u[:, 1:] ** 2) @ (v[:, 1:] ** 2).T).sqrt().flatten(), independent=False)


if __name__ == "__main__":
    unittest.main()
