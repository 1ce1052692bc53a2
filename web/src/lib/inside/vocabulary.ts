/** What pieces read as, by their ids: from a folder's tokenizer. */

/** A SentencePiece model: a protocol buffer whose field 1 are the pieces, whose field 1 is the text. */
export function sentencePieces(bytes: Uint8Array): string[] {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (const piece of fields(bytes)) {
    if (piece.field !== 1 || !piece.bytes) continue;
    const text = [...fields(piece.bytes)].find(({ field }) => field === 1)?.bytes;
    pieces.push(decoder.decode(text ?? new Uint8Array()).replaceAll('▁', ' '));
  }
  return pieces;
}

/** The fields of a message; of those that are bytes, the bytes. */
function* fields(bytes: Uint8Array): Generator<{ field: number; bytes?: Uint8Array }> {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = tag >>> 3;
    const kind = tag & 7;
    if (kind === 2) {
      const length = varint();
      yield { field, bytes: bytes.subarray(at, at + length) };
      at += length;
    } else {
      if (kind === 0) varint();
      else at += kind === 1 ? 8 : 4;
      yield { field };
    }
  }
}

/** A tokenizer.json of byte-level pieces, such as GPT-2's, whose every letter stands for a byte. */
export function bytePieces(json: string): string[] {
  const { model } = JSON.parse(json) as { model: { vocab: Record<string, number> } };
  const bytesOf = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printed = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    bytesOf.set(String.fromCodePoint(printed ? byte : next++), byte);
  }
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (const [piece, id] of Object.entries(model.vocab)) {
    const bytes = [...piece].map((letter) => bytesOf.get(letter));
    const known = bytes.every((byte) => byte !== undefined);
    pieces[id] = known ? decoder.decode(Uint8Array.from(bytes as number[])) : piece;
  }
  return pieces;
}
