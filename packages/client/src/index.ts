export { type Caller, type CallOptions, type ClientOptions, createCaller, type Tagged } from "./caller.ts";
export { type Client, createClient } from "./client.ts";
export { type Credentials, createTokenSource, type TokenSource } from "./credentials.ts";
export { ApiError, type ApiErrorBody, NetworkError, refusalOf } from "./errors.ts";
export { type ItemOf, isPaged, type ListQuery } from "./pages.ts";
export { type PreparedRequest, type RequestInput, type RouteRow, requestOf } from "./request.ts";
export { type FollowOptions, follow, parseEvents, type ServerEvent } from "./server-events.ts";
export { multipartOf, type UploadSource } from "./upload.ts";
