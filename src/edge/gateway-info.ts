import { VERSION } from '../version.js';

/** How the gateway describes itself to clients. */
export const GATEWAY_INFO = { name: 'gatehouse', title: 'Gatehouse', version: VERSION };
