/** The papers that the methods come from. */

export interface Paper {
  authors: string;
  year: number;
  title: string;
  url: string;
}

export const papers = {
  transplant: {
    authors: 'Vig et al.',
    year: 2020,
    title: 'Investigating Gender Bias in Language Models Using Causal Mediation Analysis',
    url: 'https://arxiv.org/abs/2004.12265',
  },
  locating: {
    authors: 'Meng et al.',
    year: 2022,
    title: 'Locating and Editing Factual Associations in GPT',
    url: 'https://arxiv.org/abs/2202.05262',
  },
  patching: {
    authors: 'Heimersheim and Nanda',
    year: 2024,
    title: 'How to use and interpret activation patching',
    url: 'https://arxiv.org/abs/2404.15255',
  },
  heads: {
    authors: 'Michel, Levy and Neubig',
    year: 2019,
    title: 'Are Sixteen Heads Really Better than One?',
    url: 'https://arxiv.org/abs/1905.10650',
  },
  bootstrap: {
    authors: 'Efron',
    year: 1979,
    title: 'Bootstrap Methods: Another Look at the Jackknife',
    url: 'https://doi.org/10.1214/aos/1176344552',
  },
  circuits: {
    authors: 'Conmy et al.',
    year: 2023,
    title: 'Towards Automated Circuit Discovery for Mechanistic Interpretability',
    url: 'https://arxiv.org/abs/2304.14997',
  },
  eraser: {
    authors: 'DeYoung et al.',
    year: 2020,
    title: 'ERASER: A Benchmark to Evaluate Rationalized NLP Models',
    url: 'https://arxiv.org/abs/1911.03429',
  },
  integrated: {
    authors: 'Sundararajan, Taly and Yan',
    year: 2017,
    title: 'Axiomatic Attribution for Deep Networks',
    url: 'https://arxiv.org/abs/1703.01365',
  },
  relevance: {
    authors: 'Chefer, Gur and Wolf',
    year: 2021,
    title:
      'Generic Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers',
    url: 'https://arxiv.org/abs/2103.15679',
  },
  rollout: {
    authors: 'Abnar and Zuidema',
    year: 2020,
    title: 'Quantifying Attention Flow in Transformers',
    url: 'https://arxiv.org/abs/2005.00928',
  },
  norms: {
    authors: 'Kobayashi et al.',
    year: 2020,
    title: 'Attention is Not Only a Weight: Analyzing Transformers with Vector Norms',
    url: 'https://arxiv.org/abs/2004.10102',
  },
  eapig: {
    authors: 'Hanna, Pezzelle and Belinkov',
    year: 2024,
    title: 'Have Faith in Faithfulness: Going Beyond Circuit Overlap When Finding Model Mechanisms',
    url: 'https://arxiv.org/abs/2403.17806',
  },
  circuittracing: {
    authors: 'Ameisen et al.',
    year: 2025,
    title: 'Circuit Tracing: Revealing Computational Graphs in Language Models',
    url: 'https://transformer-circuits.pub/2025/attribution-graphs/methods.html',
  },
  attnlrp: {
    authors: 'Achtibat et al.',
    year: 2024,
    title: 'AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for Transformers',
    url: 'https://arxiv.org/abs/2402.05602',
  },
  zeroing: {
    authors: 'Mohebbi et al.',
    year: 2023,
    title: 'Quantifying Context Mixing in Transformers',
    url: 'https://arxiv.org/abs/2301.12971',
  },
  occlusion: {
    authors: 'Zeiler and Fergus',
    year: 2014,
    title: 'Visualizing and Understanding Convolutional Networks',
    url: 'https://arxiv.org/abs/1311.2901',
  },
  product: {
    authors: 'Shrikumar et al.',
    year: 2016,
    title:
      'Not Just a Black Box: Learning Important Features Through Propagating Activation Differences',
    url: 'https://arxiv.org/abs/1605.01713',
  },
  vocabulary: {
    authors: 'Geva et al.',
    year: 2022,
    title:
      'Transformer Feed-Forward Layers Build Predictions by Promoting Concepts in the Vocabulary Space',
    url: 'https://arxiv.org/abs/2203.14680',
  },
  ledger: {
    authors: 'Elhage et al.',
    year: 2021,
    title: 'A Mathematical Framework for Transformer Circuits',
    url: 'https://transformer-circuits.pub/2021/framework/index.html',
  },
  glassformer: {
    authors: 'Glassformer contributors',
    year: 2026,
    title: 'Glassformer: a Transformer you can see through',
    url: 'https://github.com/glassformer/glassformer',
  },
} as const satisfies Record<string, Paper>;

export type PaperName = keyof typeof papers;

/** Returns BibTeX entries. */
export const toBibtex = (names: readonly PaperName[]): string =>
  names
    .map((name) => {
      const paper: Paper = papers[name];
      const { authors, year, title, url } = paper;
      const who = authors.replace(' et al.', ' and others').replaceAll(', ', ' and ');
      return `@misc{${name}${year},\n  author = {${who}},\n  year = {${year}},\n  title = {${title}},\n  url = {${url}}\n}\n`;
    })
    .join('\n');
