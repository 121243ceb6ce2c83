import type { ServiceName } from "./services.ts";

/**
 * The heap of each service, as flags of Node (deploy/compose has the same). Most memory of a request is freed soon: a large young generation halves
 * the collections of gateway and controller, 5 % of the CPU of a poll. Services that pass on the bytes of artifacts have a small one: their buffers
 * are outside the heap, and memory that is freed soon is reused while it is in the processor's cache, 40 % of the CPU of a download. Management's
 * heap is limited as a whole: it parses the largest bodies, seldom, and with room to grow it held twice as much. The gateway's limit leaves room
 * for the credentials of four million devices; it exists because a heap of known size is collected sooner. With --expose-gc each gives back at rest
 * what it grew by at work (packages/service/src/memory.ts), and what held the bytes of transfers while they pass (passing-bytes.ts there, which also
 * sets what NODE_OPTIONS does not take for gateway and artifact-store).
 */
export const heapOf: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: ["--expose-gc", "--max-semi-space-size=32", "--max-old-space-size=2048"],
  controller: ["--expose-gc", "--max-semi-space-size=32"],
  management: ["--expose-gc", "--max-semi-space-size=8", "--max-old-space-size=192"],
  "artifact-store": ["--expose-gc", "--max-semi-space-size=8"],
  "rollout-engine": ["--expose-gc", "--max-semi-space-size=8"],
  dmf: ["--expose-gc", "--max-semi-space-size=8"],
};

/** The environment of the system's allocator: with an arena for each thread a service keeps tens of megabytes that it has freed. */
export const allocator = { MALLOC_ARENA_MAX: "2" } as const;
