export const algorithms = ["sha256", "sha1", "md5"] as const;
export type Algorithm = (typeof algorithms)[number];

/** What a thread is asked: `call` names the request, `file` the file. Blocks are shared memory, so that bytes are not copied once more. */
export type ThreadRequest = { readonly call: number; readonly file: number } & (
  | { readonly what: "open"; readonly hashes: readonly Algorithm[] }
  | { readonly what: "update"; readonly block: SharedArrayBuffer; readonly length: number }
  | { readonly what: "digest" | "release" }
);

export interface ThreadAnswer {
  readonly call: number;
  /** The hashes that were asked for, as hexadecimal digits. */
  readonly answer?: readonly string[] | undefined;
  /** The text of the error, if the request has failed. */
  readonly error?: string;
}
