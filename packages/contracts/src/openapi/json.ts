/** The part of a JSON schema (draft 2020-12) that this code reads. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  [more: string]: unknown;
}

export interface Media {
  schema?: JsonSchema;
  example?: unknown;
}
export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
  [extension: `x-${string}`]: unknown;
}
export interface Answered {
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}
export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, Answered>;
}

/** The part of a document of `openApiDocument` that this project reads. */
export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Answered>;
    securitySchemes: Record<string, unknown>;
  };
}

/** Answers all operations of a document. */
export function operationsOf(document: OpenApi): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Answers the schemas directly within a schema. */
export function within(schema: JsonSchema): JsonSchema[] {
  const { properties = {}, additionalProperties, propertyNames, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  const maybe = [additionalProperties, propertyNames, items].filter((inner) => typeof inner === "object");
  return [...Object.values(properties), ...maybe, ...anyOf, ...oneOf, ...allOf];
}

/** Answers all schemas of a document that are written in place: those of components, bodies, parameters and answers. */
export function rootSchemas(document: OpenApi): JsonSchema[] {
  const ofMedia = (content: Record<string, Media> = {}) =>
    Object.values(content).flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
  const operations = operationsOf(document).map(({ operation }) => operation);
  return [
    ...Object.values(document.components.schemas),
    ...Object.values(document.components.responses).flatMap(({ content }) => ofMedia(content)),
    ...operations.flatMap(({ parameters = [], requestBody, responses }) => [
      ...parameters.map(({ schema }) => schema),
      ...ofMedia(requestBody?.content),
      ...Object.values(responses).flatMap(({ content }) => ofMedia(content)),
    ]),
  ];
}
