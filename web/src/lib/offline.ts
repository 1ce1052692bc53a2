/** Keeps the page usable without a network: see ../../service-worker. */
export function workOffline(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker.register('./service-worker.js').catch((error: unknown) => {
    console.info('The page will not open without a network:', error);
  });
}
