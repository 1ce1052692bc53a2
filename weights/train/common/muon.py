"""The optimizer Muon: momentum with orthogonalized updates (Jordan et al. 2024), scaled to the size of Adam's steps
(Liu et al. 2025). It updates the matrices of the layers; Adam updates the other parameters. A step costs more and makes
more progress.
"""
import torch

QUINTIC = (3.4445, -4.7750, 2.0315)  # coefficients of the Newton-Schulz iteration: move every singular value to about 1
ITERATIONS = 5
MOMENTUM = 0.95


def orthogonal(matrices):
    """Returns the matrices [K, M, N], M <= N, with singular values near 1."""
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    a, b, c = QUINTIC
    for _ in range(ITERATIONS):
        square = x @ x.transpose(1, 2)
        x = a * x + (b * square + c * (square @ square)) @ x
    return x


class Muon(torch.optim.Optimizer):
    """Updates `matrices` [M, N] with Muon and `others` with Adam."""

    def __init__(self, matrices, others, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0, compute=torch.float32):
        self.compute = compute  # type of the products that orthogonalize an update; bfloat16 is precise enough
        super().__init__([dict(params=list(matrices), muon=True), dict(params=list(others), muon=False)],
                         dict(lr=0.0, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (self.turn if group["muon"] else self.adam)(group)

    def turn(self, group):
        shapes = {}
        for parameter in group["params"]:
            state = self.state[parameter]
            if not state:
                state["momentum"] = torch.zeros_like(parameter)
            momentum = state["momentum"].lerp_(parameter.grad, 1 - MOMENTUM)
            ahead = parameter.grad.lerp(momentum, MOMENTUM)  # Nesterov
            shapes.setdefault((min(parameter.shape), max(parameter.shape)), []).append((parameter, ahead))
        for (_, longest), pairs in shapes.items():
            upright = [p.shape[0] > p.shape[1] for p, _ in pairs]
            stacked = torch.stack([u.T if turned else u for (_, u), turned in zip(pairs, upright)])
            updates = orthogonal(stacked.to(self.compute)).to(stacked.dtype)
            for (parameter, _), update, turned in zip(pairs, updates, upright):
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(update.T if turned else update, alpha=-group["lr"] * 0.2 * longest**0.5)

    def adam(self, group):
        first, second = group["betas"]
        for parameter in (p for p in group["params"] if p.grad is not None):
            state = self.state[parameter]
            if not state:
                state.update(step=0, mean=torch.zeros_like(parameter), square=torch.zeros_like(parameter))
            state["step"] += 1
            state["mean"].lerp_(parameter.grad, 1 - first)
            state["square"].mul_(second).addcmul_(parameter.grad, parameter.grad, value=1 - second)
            unbiased = (1 - second ** state["step"]) ** 0.5
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.addcdiv_(state["mean"], state["square"].sqrt().div_(unbiased).add_(group["eps"]),
                               value=-group["lr"] / (1 - first ** state["step"]))


def layer_matrices(model, in_layer=lambda name: ".layers." in name):
    """Returns (the matrices of the model's layers, its other parameters); in_layer(name) recognizes a layer's
    parameter.
    """
    inside = [p for name, p in model.named_parameters() if in_layer(name) and p.dim() == 2]
    chosen = {id(p) for p in inside}
    return inside, [p for p in model.parameters() if id(p) not in chosen]
