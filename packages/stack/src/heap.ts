import type { ServiceName } from "./services.ts";

/**
 * The heap of each service, as flags of Node (deploy/compose has the same). What a request leaves behind dies young: a large young generation
 * halves controller's collections, 5 % of the CPU of a poll. Who passes the bytes of artifacts on has a small one: their buffers lie outside
 * the heap, and memory that is freed soon is used again while it is in the processor's cache, 40 % of the CPU of a download.
 * Management's is bound as a whole: it parses the largest bodies, seldom, and with room to grow it held twice as much. The gateway's bound leaves
 * room for the credentials of four million devices; what it is for is that a heap of known size is collected sooner.
 */
export const heapOf: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ["--max-semi-space-size=16", "--max-old-space-size=1024"],
  controller: ["--max-semi-space-size=32"],
  management: ["--max-semi-space-size=8", "--max-old-space-size=192"],
  "artifact-store": ["--max-semi-space-size=8"],
  "rollout-engine": ["--max-semi-space-size=8"],
};
