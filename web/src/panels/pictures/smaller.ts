import type { Picture } from './patches.ts';

/**
 * Returns a picture whose sides are at most `most` pixels, and its scale: each pixel is the mean of a
 * square of pixels.
 */
export function smaller(picture: Picture, most: number): { picture: Picture; scale: number } {
  const { width, height, data } = picture;
  const size = Math.ceil(Math.max(width, height) / most);
  if (size <= 1) return { picture, scale: 1 };
  const channels = data.length / (width * height);
  const [across, down] = [Math.ceil(width / size), Math.ceil(height / size)];
  const result = new Uint8Array(across * down * channels);
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const right = Math.min(width, (x + 1) * size);
      const bottom = Math.min(height, (y + 1) * size);
      const count = (right - x * size) * (bottom - y * size);
      for (let channel = 0; channel < channels; channel++) {
        let sum = 0;
        for (let row = y * size; row < bottom; row++) {
          for (let column = x * size; column < right; column++) {
            sum += data[(row * width + column) * channels + channel]!;
          }
        }
        result[(y * across + x) * channels + channel] = Math.round(sum / count);
      }
    }
  }
  return { picture: { width: across, height: down, data: result }, scale: 1 / size };
}
