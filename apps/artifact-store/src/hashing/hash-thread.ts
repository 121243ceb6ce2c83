import { createHash, type Hash } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { ThreadAnswer, ThreadRequest } from "./thread-messages.ts";

/** The files that are being hashed. */
const files = new Map<number, readonly Hash[]>();

function hashesOf(file: number): readonly Hash[] {
  const hashes = files.get(file);
  if (hashes === undefined) throw new Error(`file ${file} is not open`);
  return hashes;
}

function answerOf(request: ThreadRequest): ThreadAnswer["answer"] {
  switch (request.what) {
    case "open":
      files.set(
        request.file,
        request.hashes.map((algorithm) => createHash(algorithm)),
      );
      return undefined;
    case "update": {
      const bytes = new Uint8Array(request.block, 0, request.length);
      for (const hash of hashesOf(request.file)) hash.update(bytes);
      return undefined;
    }
    case "digest":
      return hashesOf(request.file).map((hash) => hash.digest("hex"));
    case "release":
      files.delete(request.file);
      return undefined;
  }
}

parentPort?.on("message", (request: ThreadRequest) => {
  let answer: ThreadAnswer;
  try {
    answer = { call: request.call, answer: answerOf(request) };
  } catch (error) {
    answer = { call: request.call, error: (error as Error).message };
  }
  parentPort?.postMessage(answer);
});
