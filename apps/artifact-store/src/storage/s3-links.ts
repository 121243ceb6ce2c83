import type { Client } from "minio";
import { presignSignatureV4 } from "minio/dist/esm/signing.mjs";
import { retrying } from "./s3-requests.ts";
import type { LinkWanted } from "./storage.ts";

interface Bucket {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
}

/**
 * Makes links at the address of the store that devices reach. The library's own links cannot sign a `Range`, so only its signature is used. Keys
 * consist of digits, hexadecimal digits and one slash, so that nothing in a path needs an escape.
 */
export function linksOf(client: Client, settings: Bucket, publicEndpoint: string) {
  const { accessKey, secretKey, bucket } = settings;
  const { protocol, host, pathname } = new URL(publicEndpoint);
  const base = pathname.replace(/\/+$/, "");
  return async (key: string, wanted: LinkWanted): Promise<string> => {
    // the library asks the store once and remembers the answer
    const region = await retrying(() => client.getBucketRegionAsync(bucket));
    const query = new URLSearchParams({ "response-content-type": wanted.contentType });
    if (wanted.contentDisposition !== undefined) query.set("response-content-disposition", wanted.contentDisposition);
    const request = {
      method: "GET",
      protocol,
      path: `${base}/${bucket}/${key}?${escaped(query)}`,
      headers: { host, ...(wanted.range === undefined ? {} : { range: wanted.range }) },
    };
    return presignSignatureV4(request, accessKey, secretKey, undefined, region, new Date(), wanted.seconds);
  };
}

/** Writes a query as S3 signs it: everything but letters, digits and `-._~` is escaped. */
function escaped(query: URLSearchParams): string {
  const escapeAll = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return [...query].map(([name, value]) => `${name}=${escapeAll(value)}`).join("&");
}
