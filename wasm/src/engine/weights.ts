/** A tensor in a model's files. */
export interface StoredTensor {
  /** The name in the file. */
  name: string;
  /** Such as "F16". */
  dtype: string;
  shape: number[];
  /** Whether the model does not use it. */
  ignored: boolean;
}

/** The name and shape of a model's parameter. */
export interface WeightInfo {
  name: string;
  shape: number[];
}
