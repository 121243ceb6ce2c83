import { readdirSync, readFileSync } from "node:fs";
import type { Surface } from "@harrier/errors";
import { type Media, type OpenApi, operationsOf } from "./json.ts";

/** A request and its answer as a test has seen them, without what differs from run to run. */
export interface Example {
  readonly request: {
    readonly path?: Readonly<Record<string, string | number>>;
    readonly query?: Readonly<Record<string, string | number | boolean>>;
    /** The media type of the body, if there is one. */
    readonly type?: string;
    readonly body?: unknown;
  };
  readonly answer: { readonly status: number; readonly type?: string; readonly body?: unknown };
}

/** The examples by the id of the operation, then by interface and dialect. */
export type Examples = Readonly<Record<string, Readonly<Partial<Record<Surface, Example>>>>>;

/** The folder of the examples has one file per group of operations. The contract suite writes them on request (its README says how). */
export const examplesFolder = new URL("../../examples/", import.meta.url);

/** Reads all examples from their files. Only documents and tests use it, no request does. */
export function readExamples(): Examples {
  const files = readdirSync(examplesFolder).filter((name) => name.endsWith(".json"));
  return Object.assign({}, ...files.map((name) => JSON.parse(readFileSync(new URL(name, examplesFolder), "utf8"))));
}

/** Adds the examples to parameters, bodies and answers. */
export function embedExamples(document: OpenApi, surface: Surface): void {
  const examples = readExamples();
  for (const { operation } of operationsOf(document)) {
    const example = examples[operation.operationId]?.[surface];
    if (example === undefined) continue;
    const { request, answer } = example;
    for (const parameter of operation.parameters ?? []) {
      const value = (parameter.in === "path" ? request.path : request.query)?.[parameter.name];
      if (value !== undefined) parameter.example = value;
    }
    show(operation.requestBody?.content, request);
    show(operation.responses[answer.status]?.content, answer);
  }
}

function show(content: Record<string, Media> | undefined, { type, body }: { type?: string; body?: unknown }): void {
  const media = content?.[type ?? ""];
  if (media !== undefined && body !== undefined) media.example = body;
}
