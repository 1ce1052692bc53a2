import math
from torch import nn

class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)  # E: 8000 × 128, learned
        self.d_model = d_model

    def forward(self, ids):                             # ids: [B, T]
        return self.table(ids) * math.sqrt(self.d_model)  # [B, T, d_model]

# The words whose vectors point the same way as that of token i:
# nn.functional.cosine_similarity(table.weight[i], table.weight).topk(8)
