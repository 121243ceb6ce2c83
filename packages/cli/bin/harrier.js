#!/usr/bin/env node
// The program of a checkout: pnpm links it before anything is built, so it cannot be the bundle itself.
import "../dist/harrier.js";
