import { describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { hashOf, KEYS } from '../kit/auth.js';
