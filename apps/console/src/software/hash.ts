import url from "./hash.worker.ts?worker&url";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (text: string) => string }): { createScriptURL(text: string): string };
}

const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
/** The one policy of the page: scripts of its own origin alone, for the worker alone. */
const policy = trusted?.createPolicy("harrier-worker", {
  createScriptURL: (text) => {
    if (new URL(text, document.baseURI).origin !== location.origin) throw new TypeError("a worker is a file of this console");
    return text;
  },
});

/** Computes the SHA-256 of a file, or of a part of it, beside the page; undefined where the browser cannot. */
export function sha256Of(file: Blob, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(policy?.createScriptURL(url) ?? url, { type: "module" });
    const end = (hash: string | undefined) => {
      worker.terminate();
      resolve(hash);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<{ sha256?: string }>) => end(data.sha256), { once: true });
    worker.addEventListener("error", () => end(undefined), { once: true });
    signal.addEventListener("abort", () => end(undefined), { once: true });
    worker.postMessage(file);
  });
}

const headBytes = 2 ** 20;

/** Computes the SHA-256 of the first MiB of a file, by which it is known again. */
export const headOf = (file: Blob, signal = AbortSignal.timeout(10_000)): Promise<string | undefined> =>
  sha256Of(file.slice(0, headBytes), signal);
