export { type CallOptions, type Client, type ClientOptions, createClient, type RouteRow, type Tagged } from "./client.ts";
export { type Credentials, createTokenSource, type TokenSource } from "./credentials.ts";
export { ApiError, type ApiErrorBody, NetworkError } from "./errors.ts";
export { type ItemOf, isPaged, type ListQuery } from "./pages.ts";
export { type PreparedRequest, type RequestInput, requestOf } from "./request.ts";
export { parseEvents, type ServerEvent } from "./server-events.ts";
export { multipartOf, type UploadSource } from "./upload.ts";
