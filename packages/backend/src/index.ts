export { type Backend, type BackendConfig, type BackendOptions, openBackend } from "./backend.ts";
