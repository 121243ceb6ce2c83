import { describe, expect, it } from "vitest";
import { routes } from "../routes.ts";
import { type OpenApiName, openApiDocument, openApiDocuments } from "./document.ts";
import { type JsonSchema, operationsOf, rootSchemas, within } from "./json.ts";

const names = Object.keys(openApiDocuments) as OpenApiName[];
const documents = Object.fromEntries(names.map((name) => [name, openApiDocument(name)])) as Record<
  OpenApiName,
  ReturnType<typeof openApiDocument>
>;
const operation = (name: OpenApiName, id: string) =>
  operationsOf(documents[name]).find((one) => one.operation.operationId === id)?.operation;

describe.each(names)("the OpenAPI document %s", (name) => {
  const document = documents[name];
  const operations = operationsOf(document);
  const schemas = Object.entries(document.components.schemas);

  it("is OpenAPI 3.1 with one operation per route of its interface, each with a unique id", () => {
    expect(document.openapi).toBe("3.1.0");
    const open = name === "mgmt" ? ["oauth2.discovery", "oauth2.jwks", "oauth2.token"] : [];
    const rows = routes.filter((row) => (row.interface === "device") === (name === "device")).map((row) => row.id);
    expect(operations.map((entry) => entry.operation.operationId).toSorted()).toEqual([...rows, ...open].toSorted());
  });

  it("has full paths and one server", () => {
    const base = {
      mgmt: /^\/(api\/mgmt\/v1\/|oauth2\/|\.well-known\/)/,
      rest: /^\/rest\/v1\//,
      device: /^\/(\{tenant\}|api\/v1\/\{tenant\})\//,
    }[name];
    for (const path of Object.keys(document.paths)) expect(path).toMatch(base);
    expect(document.servers.map(({ url }) => url)).toEqual(["/"]);
    expect(JSON.stringify(document.paths)).not.toContain('"servers"');
  });

  it("has only the statuses of its dialect", () => {
    const surface = openApiDocuments[name];
    for (const row of routes.filter((one) => (one.interface === "device") === (name === "device"))) {
      const found = Object.keys(operation(name, row.id)?.responses ?? {}).filter((status) => /^2|^302$/.test(status));
      const expected = [String(row.success[surface]), ...Object.keys(row.otherSuccess ?? {})];
      expect(found.toSorted(), row.id).toEqual([...new Set(expected)].toSorted());
    }
  });

  it("resolves each of its references", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(references.length).toBeGreaterThan(20);
    for (const reference of new Set(references)) {
      const found = reference.split("/").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      expect(found, reference).toBeDefined();
    }
  });

  it("declares each parameter of each path as required", () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map((parameter) => parameter.name).toSorted(), path).toEqual(inPath.toSorted());
      expect(declared.every((parameter) => parameter.required)).toBe(true);
    }
  });

  it("uses only security schemes that it defines, and requires one for every operation", () => {
    const forEverybody = ["oauth2.jwks", "oauth2.discovery"];
    for (const { operation } of operations) {
      expect(operation.security.length > 0).toBe(!forEverybody.includes(operation.operationId));
      for (const scheme of operation.security.flatMap(Object.keys)) expect(document.components.securitySchemes).toHaveProperty(scheme);
    }
  });

  it("describes every operation, parameter and member, and the fields of every query", () => {
    const silent: string[] = [];
    for (const { operation } of operations) {
      const { operationId: id, summary, description, parameters = [] } = operation;
      if (summary === "" || description === "") silent.push(id);
      for (const parameter of parameters) {
        if ((parameter.description ?? "") === "") silent.push(`${id}: ${parameter.name} (parameter-texts.ts)`);
        const needsFields = parameter.name === "q" || parameter.name === "sort";
        if (needsFields && parameter["x-fields"] === undefined) silent.push(`${id}: fields of ${parameter.name} (list-fields.ts)`);
      }
    }
    for (const [owner, schema] of schemas) {
      for (const [member, property] of Object.entries(schema.properties ?? {})) {
        if ((property.description ?? "") === "") silent.push(`${owner}.${member} (member-texts.ts)`);
      }
    }
    expect(silent).toEqual([]);
  });

  it("has nothing that generators cannot handle", () => {
    const visit = (schema: JsonSchema, place: string, isRoot = false): void => {
      // some generators treat a pattern beside a date as an error
      if (schema.format === "date") expect(schema, place).not.toHaveProperty("pattern");
      // an object without a name is named after its place, and the name may be taken
      if (!isRoot) expect(Object.keys(schema.properties ?? {}), place).toEqual([]);
      for (const [member, property] of Object.entries(schema.properties ?? {})) {
        const derived = place + member.charAt(0).toUpperCase() + member.slice(1);
        if (property.enum !== undefined) expect(document.components.schemas, `${place}.${member}`).not.toHaveProperty(derived);
        visit(property, `${place}.${member}`);
      }
      // in a language without leading underscores the two would have one name
      expect("_links" in (schema.properties ?? {}) && "links" in (schema.properties ?? {}), place).toBe(false);
      if (schema.properties === undefined) for (const inner of within(schema)) visit(inner, place);
    };
    for (const [owner, schema] of schemas) visit(schema, owner, true);
    for (const schema of rootSchemas(document)) if (!schemas.some(([, known]) => known === schema)) visit(schema, "a body or parameter");
  });

  it("gives every body a type", () => {
    for (const { operation } of operations) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) => Object.entries(part?.content ?? {}));
      for (const [type, { schema }] of bodies) expect(Object.keys(schema ?? {}), `${operation.operationId} ${type}`).not.toEqual([]);
    }
  });
});

describe("the documents", () => {
  it("have the answers of their own dialect", () => {
    expect(operation("mgmt", "targets.delete")?.responses).not.toHaveProperty("204");
    expect(operation("rest", "targets.delete")?.responses).not.toHaveProperty("200");
    expect(operation("mgmt", "distributionSets.assignTargets")?.responses["403"]).toBeDefined();
    expect(JSON.stringify(operation("rest", "actions.get")?.responses["200"])).toContain("ActionRest");
    expect(JSON.stringify(documents.mgmt)).not.toContain("ActionRest");
  });

  it("name the statuses of actions only once", () => {
    for (const name of ["mgmt", "rest"] as const) {
      const { schemas } = documents[name].components;
      const members = [
        schemas["Action"]?.properties?.["detailStatus"],
        schemas["ActionRest"]?.properties?.["status"],
        schemas["ActionStatus"]?.properties?.["type"],
      ];
      for (const member of members) if (member !== undefined) expect(member.$ref).toBe("#/components/schemas/ActionDetailStatus");
      expect(schemas["ActionDetailStatus"]?.enum).toContain("wait_for_confirmation");
    }
  });

  it("describe uploads, CSV and CBOR", () => {
    expect(Object.keys(operation("mgmt", "artifacts.upload")?.requestBody?.content ?? {})).toEqual(["multipart/form-data"]);
    expect(documents.mgmt.components.schemas["ArtifactUpload"]).toMatchObject({
      required: ["file"],
      properties: { file: { format: "binary" } },
    });
    expect(operation("mgmt", "targets.importCsv")?.requestBody?.content).toMatchObject({ "text/csv": { schema: { type: "string" } } });
    const feedback = operation("device", "device.deploymentFeedback")?.requestBody?.content;
    expect(Object.keys(feedback ?? {})).toEqual(["application/json", "application/cbor"]);
    expect(Object.keys(operation("device", "device.poll")?.responses["200"]?.content ?? {})).toContain("application/cbor");
  });

  it("have no body where none is sent", () => {
    for (const name of names) {
      const { responses: shared } = documents[name].components;
      // the token endpoint follows another standard, in which 401 has a body
      for (const { operation } of operationsOf(documents[name]).filter(({ path }) => path !== "/oauth2/token")) {
        for (const [status, response] of Object.entries(operation.responses)) {
          const found = response.$ref === undefined ? response : shared[response.$ref.slice("#/components/responses/".length)];
          if (status === "204" || status === "304" || status === "401") expect(found).not.toHaveProperty("content");
        }
      }
    }
  });
});
