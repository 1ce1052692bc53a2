import torch

def attention_received(weights):                     # [layers, H, T, T], rows are queries
    return weights[-1].mean(dim=(0, 1))              # last layer: mean over heads and queries

@torch.no_grad()
def leave_one_out(model, tokens, label):             # tokens: [1, T]
    def log_odds(visible):                           # two labels: own logit minus the other
        logits = model(tokens, attention_mask=visible)[0]
        return logits[label] - logits[1 - label]
    everything = torch.ones_like(tokens)
    whole = log_odds(everything)
    effects = []
    for i in range(tokens.size(1)):
        visible = everything.clone()
        visible[0, i] = 0                            # as if it were padding
        effects.append(whole - log_odds(visible))
    return torch.stack(effects)

def rank_correlation(a, b):                          # Spearman, without ties
    ranks = [x.argsort().argsort().float() for x in (a.abs(), b.abs())]
    return torch.corrcoef(torch.stack(ranks))[0, 1]
