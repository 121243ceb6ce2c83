import { parentPort } from "node:worker_threads";
import { type Hasher, openHasher } from "./hashers.ts";
import type { ThreadAnswer, ThreadRequest } from "./thread-messages.ts";

/** The files that are being hashed. What is asked of a file is done in the order in which it comes. */
const files = new Map<number, Promise<{ readonly hashers: readonly Hasher[]; readonly bytes: Uint8Array }>>();

async function open({ file, opens }: Extract<ThreadRequest, { what: "open" }>): Promise<void> {
  const opening = Promise.all(opens.hashes.map(({ algorithm, start }) => openHasher(algorithm, start)));
  const opened = opening.then((hashers) => ({ hashers, bytes: new Uint8Array(opens.blocks) }));
  opened.catch(() => undefined); // the answer to this request says so, and every later one of the file does
  files.set(file, opened);
  await opened;
}

async function answerOf(request: ThreadRequest): Promise<ThreadAnswer["answer"]> {
  if (request.what === "open") {
    await open(request);
    return undefined;
  }
  const opened = await files.get(request.file);
  if (opened === undefined) return undefined;
  const { hashers, bytes } = opened;
  switch (request.what) {
    case "update":
      for (const hasher of hashers) hasher.update(bytes.subarray(request.from, request.to));
      return undefined;
    case "save":
      return hashers.map((hasher) => hasher.save());
    case "digest":
      return hashers.map((hasher) => hasher.digest());
    case "release":
      files.delete(request.file);
      for (const hasher of hashers) hasher.release();
      return undefined;
  }
}

parentPort?.on("message", (request: ThreadRequest) => {
  answerOf(request).then(
    (answer) => parentPort?.postMessage({ call: request.call, answer } satisfies ThreadAnswer),
    (error: Error) => {
      if (request.what === "release") files.delete(request.file);
      parentPort?.postMessage({ call: request.call, error: error.message } satisfies ThreadAnswer);
    },
  );
});
