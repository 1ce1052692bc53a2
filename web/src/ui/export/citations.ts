/** The papers that the methods come from. */

export interface Paper {
  authors: string;
  year: number;
  title: string;
  /** The number at arXiv. */
  arxiv: string;
}

export const papers = {
  transplant: {
    authors: 'Vig et al.',
    year: 2020,
    title: 'Investigating Gender Bias in Language Models Using Causal Mediation Analysis',
    arxiv: '2004.12265',
  },
  locating: {
    authors: 'Meng et al.',
    year: 2022,
    title: 'Locating and Editing Factual Associations in GPT',
    arxiv: '2202.05262',
  },
  patching: {
    authors: 'Heimersheim and Nanda',
    year: 2024,
    title: 'How to use and interpret activation patching',
    arxiv: '2404.15255',
  },
  heads: {
    authors: 'Michel, Levy and Neubig',
    year: 2019,
    title: 'Are Sixteen Heads Really Better than One?',
    arxiv: '1905.10650',
  },
  circuits: {
    authors: 'Conmy et al.',
    year: 2023,
    title: 'Towards Automated Circuit Discovery for Mechanistic Interpretability',
    arxiv: '2304.14997',
  },
  eraser: {
    authors: 'DeYoung et al.',
    year: 2020,
    title: 'ERASER: A Benchmark to Evaluate Rationalized NLP Models',
    arxiv: '1911.03429',
  },
  integrated: {
    authors: 'Sundararajan, Taly and Yan',
    year: 2017,
    title: 'Axiomatic Attribution for Deep Networks',
    arxiv: '1703.01365',
  },
  relevance: {
    authors: 'Chefer, Gur and Wolf',
    year: 2021,
    title:
      'Generic Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers',
    arxiv: '2103.15679',
  },
  rollout: {
    authors: 'Abnar and Zuidema',
    year: 2020,
    title: 'Quantifying Attention Flow in Transformers',
    arxiv: '2005.00928',
  },
  norms: {
    authors: 'Kobayashi et al.',
    year: 2020,
    title: 'Attention is Not Only a Weight: Analyzing Transformers with Vector Norms',
    arxiv: '2004.10102',
  },
  ledger: {
    authors: 'Elhage et al.',
    year: 2021,
    title: 'A Mathematical Framework for Transformer Circuits',
    arxiv: '',
  },
} as const satisfies Record<string, Paper>;

export type PaperName = keyof typeof papers;

export const addressOf = ({ arxiv }: Paper): string =>
  arxiv
    ? `https://arxiv.org/abs/${arxiv}`
    : 'https://transformer-circuits.pub/2021/framework/index.html';

/** Returns BibTeX entries. */
export const toBibtex = (names: readonly PaperName[]): string =>
  names
    .map((name) => {
      const paper: Paper = papers[name];
      const { authors, year, title } = paper;
      const who = authors.replace(' et al.', ' and others').replaceAll(', ', ' and ');
      return `@misc{${name}${year},\n  author = {${who}},\n  year = {${year}},\n  title = {${title}},\n  url = {${addressOf(paper)}}\n}\n`;
    })
    .join('\n');
