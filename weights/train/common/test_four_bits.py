"""Tests of the choice of 4-bit integers. They take seconds and need no data.

    python3 -m unittest common.test_four_bits
"""
import tempfile
import unittest
from pathlib import Path

import torch

from common import four_bits, safetensors_io
from common.encoder import EncoderLayer
from common.four_bits import Rounding, fitted, observed, packed, restored, round_linear, scales_of


def correlated(rows, size, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 8, generator=generator) @ torch.randn(8, size, generator=generator) \
        + 0.1 * torch.randn(rows, size, generator=generator)


class FourBitsTest(unittest.TestCase):
    def test_outputs_change_less_than_with_rounding_to_nearest(self):
        weight, inputs = torch.randn(48, 64, generator=torch.Generator().manual_seed(1)), correlated(2000, 64, 2)
        integers, scales = fitted(weight, inputs.T @ inputs)
        self.assertTrue(bool(((integers >= -8) & (integers <= 7)).all()))
        self.assertTrue(torch.equal(scales, four_bits.rounded_to_bfloat(scales)))
        nearest = scales_of(weight, torch.ones(64))
        steps = nearest.repeat_interleave(32, 1)
        rounded = (weight / steps).round().clamp(-8, 7) * steps

        def error(changed):
            return float(((inputs @ (changed - weight).T) ** 2).mean())

        self.assertLess(error(restored(integers, scales)), 0.4 * error(rounded))

    def test_a_weight_on_the_grid_stays(self):
        scales = torch.tensor([[0.5], [-0.25]])
        integers = torch.tensor([[-8, 7] + [3] * 30, [-8, -1] + [5] * 30], dtype=torch.int8)
        found, steps = fitted(restored(integers, scales), torch.eye(32))
        self.assertTrue(torch.equal(restored(found, steps), restored(integers, scales)))

    def test_an_unused_input_and_a_row_of_zeros_do_not_matter(self):
        hessian = torch.eye(32)
        hessian[3, 3] = 0
        integers, scales = fitted(torch.zeros(2, 32), hessian)
        self.assertTrue(bool(torch.isfinite(scales).all()) and not bool(restored(integers, scales).any()))

    def test_a_layer_is_rounded_in_place_and_written(self):
        torch.manual_seed(4)
        layer = EncoderLayer(32, 4, 64, 1e-5)
        inputs = [torch.randn(1, length, 32) for length in (3, 5, 9) * 8]
        rounding = Rounding()
        with torch.no_grad():
            outputs = rounding.layer(lambda x: layer(x, torch.float32), inputs,
                                     lambda sums: round_linear(rounding, layer, "layers.0", ["self_attn"], sums))
            self.assertTrue(torch.equal(outputs[0], layer(inputs[0], torch.float32)))
        names = [f"layers.0.self_attn.{name}.weight" for name in four_bits.ATTENTION]
        self.assertEqual(set(rounding.made), {*names, "layers.0.fc1.weight", "layers.0.fc2.weight"})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            empty = {name: packed(integers * 0) for name, (integers, _) in rounding.made.items()}
            scales = {f"{name}_scale": scales.numpy() * 0 for name, (_, scales) in rounding.made.items()}
            dtypes = {**dict.fromkeys(empty, "U8"), **dict.fromkeys(scales, "BF16")}
            safetensors_io.save(path, {**scales, **empty}, dtypes)
            rounding.write(folder)
            self.assertTrue(torch.equal(four_bits.read(path)["layers.0.fc2.weight"], layer.fc2.weight))
            rounding.made.popitem()
            with self.assertRaises(ValueError):
                rounding.write(folder)

    def test_only_uses_inside_are_observed(self):
        layer = EncoderLayer(32, 4, 64, 1e-5)
        with torch.no_grad(), observed() as sums:
            layer(torch.randn(1, 3, 32), torch.float32)
        self.assertEqual(len(sums), 6)
        self.assertEqual(four_bits.OBSERVERS, [])


if __name__ == "__main__":
    unittest.main()
