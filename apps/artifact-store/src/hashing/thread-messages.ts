import type { Algorithm, Start } from "./hashers.ts";

/** What a thread is asked: `call` names the request, `file` the file. Blocks are shared memory, so that bytes are not copied once more. */
export type ThreadRequest = { readonly call: number; readonly file: number } & (
  | {
      readonly what: "open";
      readonly opens: {
        readonly hashes: readonly { readonly algorithm: Algorithm; readonly start: Start }[];
        readonly blocks: SharedArrayBuffer;
      };
    }
  | { readonly what: "update"; readonly from: number; readonly to: number }
  | { readonly what: "save" | "digest" | "release" }
);

export interface ThreadAnswer {
  readonly call: number;
  readonly answer?: readonly (string | Uint8Array)[] | undefined;
  /** The text of the error, if the request has failed. */
  readonly error?: string;
}
