import sentencepiece, torch

tokenizer = sentencepiece.SentencePieceProcessor(model_file="tokenizer.model")

tokens = tokenizer.encode(text, out_type=str)  # ['▁the', '▁plot', ...]
ids = torch.tensor([tokenizer.encode(text)])   # [B=1, T], integers below vocab_size

# Nothing but `ids` enters the model. It never sees a letter.
