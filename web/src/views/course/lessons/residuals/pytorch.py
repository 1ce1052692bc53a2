from torch import nn

class PreNorm(nn.Module):             # as in this model, and in GPT-2 and later
    def __init__(self, d_model, sublayer):
        super().__init__()
        self.norm, self.sublayer = nn.LayerNorm(d_model), sublayer

    def forward(self, x):             # x: [B, T, d_model]
        return x + self.sublayer(self.norm(x))

class PostNorm(PreNorm):              # as in the paper, and in BERT
    def forward(self, x):
        return self.norm(x + self.sublayer(x))
