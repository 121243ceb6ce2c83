import { describe, expect, it } from "vitest";
import { openApiDocument } from "./openapi.ts";
import { routes } from "./routes.ts";

interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; required?: boolean }[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, unknown> } | { $ref: string }>;
  security: Record<string, unknown>[];
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation> & { servers?: { url: string }[] }>;
  components: { schemas: Record<string, unknown>; responses: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([key]) => key !== "servers")
    .map(([method, operation]) => ({ path, method, operation: operation as Operation })),
);
const byId = new Map(operations.map((entry) => [entry.operation.operationId, entry]));

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 with one operation per route, and the token endpoint", () => {
    expect(document.openapi).toBe("3.1.0");
    const open = ["oauth2.discovery", "oauth2.jwks", "oauth2.token"];
    expect([...byId.keys()].toSorted()).toEqual([...routes.map((row) => row.id), ...open].toSorted());
  });

  it("resolves each of its references", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(references.length).toBeGreaterThan(50);
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

  it("names security schemes that exist, and asks for one everywhere", () => {
    const forEverybody = ["oauth2.jwks", "oauth2.discovery"];
    for (const { operation } of operations) {
      expect(operation.security.length > 0).toBe(!forEverybody.includes(operation.operationId));
      for (const name of operation.security.flatMap(Object.keys)) expect(document.components.securitySchemes).toHaveProperty(name);
    }
  });

  it("serves management under both base paths and devices at the root", () => {
    expect(document.paths["/targets"]?.servers).toEqual([{ url: "/api/mgmt/v1" }, { url: "/rest/v1" }]);
    expect(document.paths["/{tenant}/controller/v1/{controllerId}"]?.servers).toBeUndefined();
  });

  it("shows the answers of both dialects", () => {
    const responses = byId.get("targets.delete")?.operation.responses ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "204", "401", "403", "404"]));
    expect(JSON.stringify(byId.get("actions.get")?.operation.responses["200"])).toContain("ActionRest");
    const assign = byId.get("distributionSets.assignTargets")?.operation.responses ?? {};
    expect(assign).toHaveProperty("429");
  });

  it("describes an upload as multipart with a file", () => {
    const body = byId.get("artifacts.upload")?.operation.requestBody;
    expect(Object.keys(body?.content ?? {})).toEqual(["multipart/form-data"]);
    expect(document.components.schemas["ArtifactUpload"]).toMatchObject({ required: ["file"], properties: { file: { format: "binary" } } });
  });

  it("has no body where there is none to send", () => {
    // the token endpoint speaks another standard, which has one at 401
    for (const { operation } of operations.filter(({ path }) => path !== "/oauth2/token")) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (status === "204" || status === "304" || status === "401") expect(response).not.toHaveProperty("content");
      }
    }
  });
});
