import { type OpenApi, type OpenApiName, openApiDocument, openApiDocuments, operationsOf, type Surface } from "@harrier/contracts";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** A published document, with what it says of requests and answers. */
export interface Published {
  readonly document: OpenApi;
  /** Returns what is wrong with a body according to the document; the list is empty where the body is right. */
  faultsOf(where: Where, value: unknown): string[];
  /** Returns the statuses that the document lists for an operation. */
  statusesOf(id: string): string[];
}

/** The place of a body in the document; without a status it is the request's body. */
export interface Where {
  readonly id: string;
  readonly status?: number;
  readonly type: string;
}

const byName = new Map<OpenApiName, Published>();

/** Reads the document of an interface and dialect. */
export function publishedFor(surface: Surface): Published {
  const name = (Object.keys(openApiDocuments) as OpenApiName[]).find((one) => openApiDocuments[one] === surface) as OpenApiName;
  const published = byName.get(name) ?? read(openApiDocument(name));
  byName.set(name, published);
  return published;
}

function read(document: OpenApi): Published {
  // OpenAPI defines formats of numbers that the validator does not know.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "document");
  const places = new Map(operationsOf(document).map(({ path, method, operation }) => [operation.operationId, { path, method, operation }]));
  const checks = new Map<string, ValidateFunction>();
  return {
    document,
    statusesOf: (id) => Object.keys(places.get(id)?.operation.responses ?? {}),
    faultsOf({ id, status, type }, value) {
      const place = places.get(id);
      if (place === undefined) return [`the document has no operation ${id}`];
      const { path, method, operation } = place;
      const content = status === undefined ? operation.requestBody?.content : operation.responses[status]?.content;
      if (content?.[type]?.schema === undefined)
        return [`the document knows no ${type} of ${id}${status === undefined ? "" : ` at ${status}`}`];
      const part = status === undefined ? ["requestBody"] : ["responses", String(status)];
      const pointer = ["paths", path, method, ...part, "content", type, "schema"].map(escaped).join("/");
      const check = checks.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` });
      checks.set(pointer, check);
      return check(value) ? [] : (check.errors ?? []).map(faultOf);
    },
  };
}

const faultOf = ({ instancePath, message }: ErrorObject) => `${instancePath === "" ? "the body" : instancePath} ${message}`;

/** Escapes a step of a JSON pointer for the fragment of an address. */
function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"));
}
