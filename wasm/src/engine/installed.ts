// Up to version 7, Vite's development server runs a copy of the script in a folder without the other
// files.
export const copied = /\/\.vite\/deps[^/]*\/(?=[^/]+$)/;

/** Returns the URL of a file of the package as npm installed it. */
export function installed(url: URL): string {
  return url.href.replace(copied, '/glassformer/dist/');
}
