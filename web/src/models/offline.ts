import type { Binary } from 'glassformer';
import { filesOf, folderOf, type ModelName } from './models.ts';

/**
 * Keeps the page and a loaded model usable offline; see ../../service-worker. Call it once the
 * model is loaded, so that its files come from the browser's cache and are not downloaded twice. Only
 * the binaries that this browser runs are kept, of which its model is one.
 */
export async function workOffline(name: ModelName, binary: Binary): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register(`./service-worker.js?${binary}`);
    const { active } = await navigator.serviceWorker.ready;
    const folder = folderOf(name).href;
    active?.postMessage({ keep: filesOf(name).map((file) => `${folder}/${file}`) });
  } catch (error) {
    console.info('The page will not work offline:', error);
  }
}
