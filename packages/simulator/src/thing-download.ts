import { download } from "./device/download.ts";
import type { Http } from "./http.ts";

/** A module of a message that tells a thing to install (contract rollouts.md §8.4); only the members that a thing uses are declared. */
export interface ThingModule {
  readonly artifacts: readonly {
    readonly filename: string;
    readonly size: number;
    readonly hashes: { readonly sha1: string; readonly md5: string };
    readonly urls: Readonly<Record<string, string>>;
  }[];
}

export interface FetchOptions {
  readonly http: Http;
  readonly pieces: number;
  readonly token: string;
  readonly onBytes: (count: number) => void;
  readonly signal: AbortSignal;
}

const retryMs = 120_000;

/** Fetches all files of modules and checks both their hashes; rejects with DownloadWrong where a file is not what was promised. */
export async function fetchModules(modules: readonly ThingModule[], options: FetchOptions): Promise<void> {
  const { http, pieces, token, onBytes, signal } = options;
  for (const { filename, size, hashes, urls } of modules.flatMap(({ artifacts }) => artifacts)) {
    const url = urls["HTTPS"] ?? urls["HTTP"];
    if (url === undefined) throw new Error(`artifact ${filename} has no address`);
    const headers = { authorization: `TargetToken ${token}` };
    const { sha1, md5 } = hashes;
    await download({ url, size, hashes: { sha1, md5 } }, { http, headers, pieces, onBytes, retryPolicy: { ms: retryMs, signal } });
  }
}
