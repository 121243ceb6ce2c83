import { finished, type Readable } from "node:stream";
import type { TargetCreate, TargetImportView } from "@harrier/contracts";
import { entityNotFound, errorBody, HarrierError, lacksPermission, toHarrierError } from "@harrier/errors";
import type { Client, ImportedTargetInput, ImportTargetsRequestInput, ImportTargetsResponse } from "@harrier/rpc";
import { CsvError, parse } from "csv-parse";
import { newCommandId } from "../targets/assignment.ts";
import { type Asker, toNewTarget } from "../targets/targets.ts";
import { readHeader, targetOf } from "./records.ts";

interface Deps {
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "importTargets">;
}

/** A million long lines; what is blank counts too. */
const mostBytes = 1024 ** 3;
/** How long is spent on what a refused file has left behind; controller sweeps the rest. */
const discardMs = 10_000;
/** Lines that go to controller at a time. */
const atOnce = 1_000;
/** As many as the largest fleet; a file without an end must not fill the disk. */
const mostLines = 1_000_000;
const longestRecord = 64 * 1024;
const mostErrors = 100;
/** Of an id that is told of in an error; a longer one is none (contract management.md §1.6). */
const longestId = 256;
/** How often others may be faster with one of the ids. */
const tries = 3;
/** All of a large file at the end: about ten seconds for 100,000 lines. */
const finishMs = 10 * 60_000;

interface Parsed {
  record: Record<string, string>;
  info: { lines: number };
}

/**
 * Creates targets from CSV (contract extensions.md). `abort`: of all lines or, with an error in any, of none; controller keeps the lines apart until the
 * file has ended without one and then makes targets of them in one transaction. `skip`: by the thousand, those that can be created.
 */
export async function importTargets(
  deps: Deps,
  asker: Asker,
  input: { file: Readable; onError: "abort" | "skip" },
): Promise<TargetImportView> {
  const importing = new Import(deps, asker, input.onError === "skip");
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

/** One file on its way. What it holds is bounded: the lines of one call, and the first errors. */
class Import {
  readonly #deps: Deps;
  readonly #asker: Asker;
  readonly #skip: boolean;
  readonly #id = newCommandId("import");
  #lines: ImportedTargetInput[] = [];
  #read = 0;
  #sent = false;
  #created = 0;
  #failed = 0;
  #errors: TargetImportView["errors"] = [];

  constructor(deps: Deps, asker: Asker, skip: boolean) {
    this.#deps = deps;
    this.#asker = asker;
    this.#skip = skip;
  }

  result(): TargetImportView {
    const errors = this.#errors.sort((a, b) => a.line - b.line).slice(0, mostErrors);
    return { created: this.#created, failed: this.#failed, errors };
  }

  /** Reads on as fast as controller takes the lines. The file is left open when it is refused: it is a request, and the error is its answer. */
  async read(file: Readable): Promise<void> {
    const options = { columns: readHeader, bom: true, info: true, skip_empty_lines: true, max_record_size: longestRecord } as const;
    const parser = file.pipe(parse(options));
    // The parser would wait for ever for the rest of a file whose client has gone.
    finished(file, { writable: false }, (cause) => {
      if (cause) parser.destroy(new HarrierError("bodyNotReadable", "The file was cut off.", { cause }));
    });
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > mostBytes) parser.destroy(new HarrierError("payloadTooLarge", `A file has ${mostBytes} bytes at most.`));
    };
    file.on("data", count);
    try {
      for await (const { record, info } of parser as AsyncIterable<Parsed>) {
        this.#read += 1;
        if (this.#read > mostLines) throw new HarrierError("payloadTooLarge", `A file has ${mostLines} targets at most.`);
        this.#add(record, info.lines);
        if (this.#lines.length === atOnce) await this.#send();
      }
    } finally {
      file.off("data", count);
      file.unpipe(parser);
    }
  }

  /** Takes back the lines that controller keeps for a file that is not to end. */
  async discard(): Promise<void> {
    if (this.#skip || !this.#sent) return;
    const out = { ...this.#asker.out(), deadline: Date.now() + discardMs };
    const request = { importId: this.#id, targets: [], last: true, skip: false, discard: true };
    await this.#deps.targets.importTargets(request, out).catch(() => undefined); // they are swept within the hour
  }

  /** The file cannot be read on from here; what is behind has not been looked at. */
  broken(error: CsvError): HarrierError {
    const { lines } = error as unknown as { lines?: number };
    this.#fail(lines ?? this.#read + 1, undefined, new HarrierError("bodyNotReadable", error.message));
    return new HarrierError("constraintViolation", `This is no CSV from line ${lines ?? 1} on.`);
  }

  async finish(): Promise<void> {
    if (this.#skip) return this.#send();
    const discard = this.#failed > 0;
    this.#note(await this.#call({ importId: this.#id, targets: this.#take(), last: true, skip: false, discard }));
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
    this.#note(await this.#call({ importId, targets, last: this.#skip, skip: this.#skip, discard: false }));
  }

  /** The lines are there already when the end of an import is said again, since somebody else made one of the targets meanwhile. */
  async #call(request: ImportTargetsRequestInput): Promise<ImportTargetsResponse> {
    this.#sent = true;
    for (let n = 1; ; n++) {
      const out = { ...this.#asker.out(), ...(request.last ? { deadline: Date.now() + finishMs } : {}) };
      try {
        return await this.#deps.targets.importTargets(n === 1 ? request : { ...request, targets: [] }, out);
      } catch (thrown) {
        if (n === tries || toHarrierError(thrown).code !== "entityAlreadyExists") throw thrown;
      }
    }
  }

  #note({ created, failed, problems }: ImportTargetsResponse): void {
    this.#created += created;
    for (const { line, controllerId, targetTypeId, code } of problems) this.#keep(line, controllerId, problemOf(code, targetTypeId));
    this.#failed += failed;
  }

  #fail(line: number, controllerId: string | undefined, error: HarrierError): void {
    this.#failed += 1;
    this.#keep(line, controllerId, error);
  }

  #keep(line: number, controllerId: string | undefined, error: HarrierError): void {
    if (this.#errors.length >= 2 * mostErrors) return;
    const { errorCode = "", message = "" } = errorBody(error) ?? {};
    this.#errors.push({ line, ...(controllerId ? { controllerId: controllerId.slice(0, longestId) } : {}), errorCode, message });
  }
}

function problemOf(code: string, targetType: number | undefined): HarrierError {
  if (code === "entityNotFound") return entityNotFound("TargetType", targetType);
  if (code === "insufficientPermission") return lacksPermission(["CREATE_TARGET"], "restricted");
  return new HarrierError("entityAlreadyExists", "A target with the given controllerId already exists.");
}
