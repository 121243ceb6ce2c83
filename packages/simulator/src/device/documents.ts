/** A device reads these documents (spec 000 §2); only the members it uses are declared. */
export interface Poll {
  readonly config: { readonly polling: { readonly sleep: string } };
  readonly _links?: Readonly<Record<string, { readonly href: string }>>;
}

export interface DeviceArtifact {
  readonly filename: string;
  readonly size: number;
  readonly hashes: { readonly sha1: string; readonly md5: string; readonly sha256: string };
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
}

export interface Deployment {
  readonly id: string;
  readonly deployment: {
    readonly download: "skip" | "attempt" | "forced";
    readonly update: "skip" | "attempt" | "forced";
    readonly chunks: readonly { readonly name: string; readonly version: string; readonly artifacts: readonly DeviceArtifact[] }[];
  };
}

export interface Cancellation {
  readonly cancelAction: { readonly stopId: string };
}

export type Execution = "proceeding" | "download" | "downloaded" | "closed" | "rejected" | "canceled";

/** Makes the body of a feedback (spec 000 §2.5). */
export function feedback(execution: Execution, finished: "none" | "success" | "failure", ...details: readonly string[]): string {
  return JSON.stringify({ timestamp: Date.now(), status: { execution, result: { finished }, details } });
}

/** The code of a failure whose reason will pass. */
export const transientCode = 503;

/** Makes the last feedback of an update that has failed, with its code. */
export function failureWithCode(code: number, detail: string): string {
  return JSON.stringify({
    timestamp: Date.now(),
    status: { execution: "closed", result: { finished: "failure" }, code, details: [detail] },
  });
}

/** Makes the body of the configuration data (spec 000 §2.6), with the version that runs once an update was installed. */
export function configData(controllerId: string, version?: string): string {
  const shown = version === undefined ? {} : { sw_version: version };
  return JSON.stringify({ mode: "merge", data: { serial: controllerId, hwRevision: "1", simulator: "harrier", ...shown } });
}
