import { finished, type Readable } from "node:stream";
import type { TargetCreate, TargetImportView } from "@harrier/contracts";
import { entityNotFound, errorBody, HarrierError, lacksPermission, toHarrierError } from "@harrier/errors";
import type { Client, ImportedTargetInput, ImportTargetsRequestInput, ImportTargetsResponse } from "@harrier/rpc";
import { CsvError, parse } from "csv-parse";
import { newCommandId } from "../targets/assignment.ts";
import { type Actor, toNewTarget } from "../targets/targets.ts";
import { readHeader, targetOf } from "./records.ts";

interface Deps {
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "importTargets">;
}

/** The limit has room for a million long lines; blank lines count too. */
const maxBytes = 1024 ** 3;
/** This is the time for removing what a refused file has left behind; controller sweeps the remainder. */
const discardMs = 10_000;
/** So many lines are sent to controller at a time. */
const chunkSize = 1_000;
/** The limit is as large as the largest fleet; a file without an end must not fill the disk. */
const maxLines = 1_000_000;
const maxRecordBytes = 64 * 1024;
const maxErrors = 100;
/** The maximum length of an id in an error; a longer one is invalid (contract management.md §1.6). */
const maxIdLength = 256;
/** An import is tried so often when other requests create targets with its ids meanwhile. */
const tries = 3;
/** This is the timeout for the end of a large file; 100,000 lines take about ten seconds. */
const finishMs = 10 * 60_000;

interface Parsed {
  record: Record<string, string>;
  info: { lines: number };
}

/**
 * Creates targets from CSV (contract extensions.md). `abort` creates the targets of all lines or, with an error in any, none: controller
 * stores the lines separately until the file has ended without an error, and then makes targets of them in one transaction. `skip` creates
 * those that can be created, by the thousand.
 */
export async function importTargets(
  deps: Deps,
  actor: Actor,
  input: { file: Readable; onError: "abort" | "skip" },
): Promise<TargetImportView> {
  const importing = new Import(deps, actor, input.onError === "skip");
  try {
    await importing.read(input.file);
    await importing.finish();
  } catch (thrown) {
    await importing.discard();
    const error = thrown instanceof CsvError ? importing.broken(thrown) : toHarrierError(thrown);
    if (error.code === "internal") throw thrown;
    throw new HarrierError(error.code, error.message, { info: { ...error.info, ...importing.result() }, cause: thrown });
  }
  const result = importing.result();
  if (result.failed > 0 && input.onError === "abort") {
    throw new HarrierError("constraintViolation", `${result.failed} lines make no target; none was created.`, { info: { ...result } });
  }
  return result;
}

/** Imports one file. Its memory is bounded: it holds the lines of one call, and the first errors. */
class Import {
  readonly #deps: Deps;
  readonly #actor: Actor;
  readonly #skip: boolean;
  readonly #id = newCommandId("import");
  #lines: ImportedTargetInput[] = [];
  #read = 0;
  #sent = false;
  #created = 0;
  #failed = 0;
  #errors: TargetImportView["errors"] = [];

  constructor(deps: Deps, actor: Actor, skip: boolean) {
    this.#deps = deps;
    this.#actor = actor;
    this.#skip = skip;
  }

  result(): TargetImportView {
    const errors = this.#errors.sort((a, b) => a.line - b.line).slice(0, maxErrors);
    return { created: this.#created, failed: this.#failed, errors };
  }

  /** Reads as fast as controller takes the lines. A refused file is not closed: it is the request, and the error is its answer. */
  async read(file: Readable): Promise<void> {
    const options = { columns: readHeader, bom: true, info: true, skip_empty_lines: true, max_record_size: maxRecordBytes } as const;
    const parser = file.pipe(parse(options));
    // The parser would wait for ever for the rest of a file whose client has disconnected.
    finished(file, { writable: false }, (cause) => {
      if (cause) parser.destroy(new HarrierError("bodyNotReadable", "The file was cut off.", { cause }));
    });
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) parser.destroy(new HarrierError("payloadTooLarge", `A file has ${maxBytes} bytes at most.`));
    };
    file.on("data", count);
    try {
      for await (const { record, info } of parser as AsyncIterable<Parsed>) {
        this.#read += 1;
        if (this.#read > maxLines) throw new HarrierError("payloadTooLarge", `A file has ${maxLines} targets at most.`);
        this.#add(record, info.lines);
        if (this.#lines.length === chunkSize) await this.#send();
      }
    } finally {
      file.off("data", count);
      file.unpipe(parser);
    }
  }

  /** Discards the lines that controller has stored for a file that will not be finished. */
  async discard(): Promise<void> {
    if (this.#skip || !this.#sent) return;
    const out = { ...this.#actor.out(), deadline: Date.now() + discardMs };
    const request = { importId: this.#id, targets: [], last: true, skip: false, discard: true };
    await this.#deps.targets.importTargets(request, out).catch(() => undefined); // Controller sweeps them within the hour.
  }

  /** Reports that the file cannot be read from here on; later lines have not been checked. */
  broken(error: CsvError): HarrierError {
    const { lines } = error as unknown as { lines?: number };
    this.#fail(lines ?? this.#read + 1, undefined, new HarrierError("bodyNotReadable", error.message));
    return new HarrierError("constraintViolation", `This is no CSV from line ${lines ?? 1} on.`);
  }

  async finish(): Promise<void> {
    if (this.#skip) return this.#send();
    const discard = this.#failed > 0;
    this.#record(await this.#call({ importId: this.#id, targets: this.#take(), last: true, skip: false, discard }));
  }

  #add(record: Record<string, string>, line: number): void {
    let target: TargetCreate;
    try {
      target = targetOf(record);
    } catch (thrown) {
      this.#fail(line, record["controllerId"], toHarrierError(thrown));
      return;
    }
    this.#lines.push({ line, target: toNewTarget(target) });
  }

  #take(): ImportedTargetInput[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  async #send(): Promise<void> {
    const targets = this.#take();
    if (targets.length === 0) return;
    const importId = this.#skip ? newCommandId("import") : this.#id;
    this.#record(await this.#call({ importId, targets, last: this.#skip, skip: this.#skip, discard: false }));
  }

  /**
   * Sends lines to controller. A last call that fails because somebody else has created one of the targets meanwhile is repeated without
   * the lines, which controller has already.
   */
  async #call(request: ImportTargetsRequestInput): Promise<ImportTargetsResponse> {
    this.#sent = true;
    for (let n = 1; ; n++) {
      const out = { ...this.#actor.out(), ...(request.last ? { deadline: Date.now() + finishMs } : {}) };
      try {
        return await this.#deps.targets.importTargets(n === 1 ? request : { ...request, targets: [] }, out);
      } catch (thrown) {
        if (n === tries || toHarrierError(thrown).code !== "entityAlreadyExists") throw thrown;
      }
    }
  }

  #record({ created, failed, problems }: ImportTargetsResponse): void {
    this.#created += created;
    for (const { line, controllerId, targetTypeId, code } of problems) this.#keep(line, controllerId, problemOf(code, targetTypeId));
    this.#failed += failed;
  }

  #fail(line: number, controllerId: string | undefined, error: HarrierError): void {
    this.#failed += 1;
    this.#keep(line, controllerId, error);
  }

  #keep(line: number, controllerId: string | undefined, error: HarrierError): void {
    if (this.#errors.length >= 2 * maxErrors) return;
    const { errorCode = "", message = "" } = errorBody(error) ?? {};
    this.#errors.push({ line, ...(controllerId ? { controllerId: controllerId.slice(0, maxIdLength) } : {}), errorCode, message });
  }
}

function problemOf(code: string, targetType: number | undefined): HarrierError {
  if (code === "entityNotFound") return entityNotFound("TargetType", targetType);
  if (code === "insufficientPermission") return lacksPermission(["CREATE_TARGET"], "restricted");
  return new HarrierError("entityAlreadyExists", "A target with the given controllerId already exists.");
}
