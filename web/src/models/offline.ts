import { filesOf, folderOf, type ModelName } from './models.ts';

/**
 * Keeps the page and a model that it has loaded usable without a network: see ../../service-worker.
 * To be called once the model is there, so that what is kept comes from the browser's cache and is
 * not fetched twice.
 */
export async function workOffline(name: ModelName): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register('./service-worker.js');
    const { active } = await navigator.serviceWorker.ready;
    const folder = folderOf(name).href;
    active?.postMessage({ keep: filesOf(name).map((file) => `${folder}/${file}`) });
  } catch (error) {
    console.info('The page will not open without a network:', error);
  }
}
