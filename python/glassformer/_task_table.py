"""The tasks of the folders that each class opens."""
# Written by tools/schema.mjs from src/tasks/task_facts.cpp. Do not edit.

TASKS = {
    "Classifier": ["text-classification"],
    "TokenClassifier": ["token-classification"],
    "QuestionAnswerer": ["question-answering"],
    "MaskFiller": ["fill-mask"],
    "Embedder": ["feature-extraction"],
    "ImageClassifier": ["image-classification"],
    "ZeroShotImageClassifier": ["zero-shot-image-classification"],
    "Translator": ["translation"],
    "Generator": ["text-generation", "text2text-generation"],
    "Summarizer": ["text2text-generation"],
}
