import { createSHA256 } from "hash-wasm";

// The SHA-256 of a file, read as a stream: the page sends it meanwhile.
addEventListener("message", async ({ data }: MessageEvent<Blob>) => {
  try {
    const hash = await createSHA256();
    hash.init();
    const reader = data.stream().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      hash.update(value);
    }
    postMessage({ sha256: hash.digest("hex") });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
