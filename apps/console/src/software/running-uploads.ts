import type { ArtifactView } from "@harrier/contracts";
import { useSyncExternalStore } from "react";
import { invalidate } from "../api/query-client.ts";
import { headOf } from "./hash.ts";
import { forget, type Place, remember } from "./unfinished.state.ts";
import { uploadFile } from "./upload.ts";

/** An upload of this tab. It goes on while other pages are looked at, and stays listed until it is dismissed. */
export interface Running {
  readonly id: number;
  readonly place: Place;
  readonly file: File;
  /** The server's id of it, once it has begun. */
  readonly uploadId?: string;
  readonly state: "sending" | "hashing" | "done" | "failed";
  readonly paused: boolean;
  readonly broken: boolean;
  /** When so many bytes were stored, of the last parts. */
  readonly samples: readonly { readonly at: number; readonly offset: number }[];
  readonly result?: { readonly artifact: ArtifactView; readonly sha256: string | undefined };
  readonly error?: unknown;
}

/** The rate is that of so many parts. */
const samplesKept = 8;

/** A gate that can be closed: what waits for it goes on when it is opened. */
function makeGate() {
  let open: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  return {
    wait: () => closed ?? Promise.resolve(),
    close: () => {
      closed ??= new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => {
      open?.();
      closed = undefined;
    },
  };
}

let all: readonly Running[] = [];
let next = 0;
const controls = new Map<number, { readonly gate: ReturnType<typeof makeGate>; readonly ending: AbortController }>();
const listeners = new Set<() => void>();

function become(changed: readonly Running[]): void {
  all = changed;
  for (const listener of listeners) listener();
}

const edit = (id: number, part: Partial<Running>): void => become(all.map((one) => (one.id === id ? { ...one, ...part } : one)));

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The uploads of this tab to a module, in the order in which they began. */
export function useRunning({ tenant, username, moduleId }: Place): readonly Running[] {
  const running = useSyncExternalStore(subscribe, () => all);
  return running.filter(({ place }) => place.moduleId === moduleId && place.tenant === tenant && place.username === username);
}

/** Sends a file; with the id of an upload that was begun before, what is missing of it. */
export function startUpload(place: Place, file: File, resumed?: string): void {
  const id = next++;
  const control = { gate: makeGate(), ending: new AbortController() };
  controls.set(id, control);
  const first = { at: performance.now(), offset: 0 };
  become([...all, { id, place, file, state: "sending", paused: false, broken: false, samples: [first] }]);
  const sampled = (offset: number) =>
    [...(all.find((one) => one.id === id)?.samples ?? []), { at: performance.now(), offset }].slice(-samplesKept);
  let ended = false;
  uploadFile(place.moduleId, file, {
    resumed,
    onOpened: (uploadId) => {
      edit(id, { uploadId });
      const { name, size } = file;
      void headOf(file).then((head) => !ended && remember(localStorage, place, { uploadId, name, size, head }));
    },
    onEnded: (uploadId) => {
      ended = true;
      forget(localStorage, place, uploadId);
    },
    onOffset: (offset) => edit(id, { samples: sampled(offset) }),
    onHashing: () => edit(id, { state: "hashing" }),
    onBroken: (broken) => edit(id, { broken }),
    gate: control.gate.wait,
    signal: control.ending.signal,
  }).then(
    (result) => {
      edit(id, { result, state: "done" });
      void invalidate("artifacts", "artifactUploads", "softwareModules", "distributionSets");
    },
    (error: unknown) => {
      edit(id, { error, state: "failed" });
      void invalidate("artifactUploads");
    },
  );
}

/** Sends no further part until it goes on. */
export function pauseUpload(id: number, paused: boolean): void {
  if (paused) controls.get(id)?.gate.close();
  else controls.get(id)?.gate.open();
  edit(id, { paused });
}

/** Takes an upload off the list; one that is not over is given up. */
export function dismissUpload(id: number): void {
  const control = controls.get(id);
  controls.delete(id);
  control?.ending.abort();
  control?.gate.open();
  become(all.filter((one) => one.id !== id));
}
