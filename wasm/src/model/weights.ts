import { checkOption } from '../base/checks.js';
import type { WeightInfo } from '../engine/weights.js';
import type { Session } from './session.js';

/** The parameters of a loaded model, as it computes with them. */
export class Weights {
  readonly #session: Session;
  #list: Promise<WeightInfo[]> | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Returns the names and shapes of all parameters. Names are the same for every family of models:
   * "encoder.layers.0.self_attn.q_proj.weight". Shared tables are listed once.
   */
  list(): Promise<WeightInfo[]> {
    this.#list ??= this.#session.ask('weights', undefined);
    return this.#list;
  }

  /** @internal The list is out of date. */
  forget(): void {
    this.#list = undefined;
  }

  /**
   * Returns row `index` of a parameter, which counts from 0: of a weight [out, in] the `in` weights
   * of an output, of a table the vector of a token, of a bias one number. With compute "int8" or "int4" these
   * are the integers times their scale. Throws `invalid_option` for an unknown name or row.
   */
  async row(name: string, index: number): Promise<Float32Array> {
    checkOption(typeof name === 'string', 'name', 'a string');
    checkOption(Number.isInteger(index) && index >= 0 && index < 2 ** 32, 'index', 'a row number');
    return this.#session.ask('weightRow', { name, index });
  }
}
